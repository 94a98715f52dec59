"""/tasks: the commands in the background."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.display import visible
from codeagent.core.errors import UsageError
from codeagent.core.events import Notice
from codeagent.core.jobs import Job
from codeagent.core.ui import Table
from codeagent.tools.bounds import head_and_tail
from codeagent.tools.builtin.shell_job import state

SHOWN = 8_000
"""Bytes of output that are shown."""


async def run(args: str, context: CommandContext) -> Outcome:
    verb, _, id = args.partition(" ")
    if verb in ("", "list"):
        _list(context)
        return Done()
    if verb not in ("read", "kill", "keep"):
        raise UsageError("There is no /tasks {verb}.", verb=verb, hint="/tasks, or read, kill or keep with an id.")
    id, job = _find(id.strip(), context)
    if verb == "read":
        _read(job, context)
    elif verb == "kill":
        await job.stop()
        context.ui.show(Notice("{id} is dead.", {"id": id}))
    else:
        log = context.session.jobs.outlive(id)
        if log is None:
            raise UsageError("{id} has ended.", id=id)
        context.ui.show(Notice("{id} outlives the session; it then prints to {path}.", {"id": id, "path": log}))
    return Done()


def _find(id: str, context: CommandContext) -> tuple[str, Job]:
    """The job of that id, or the only one there is."""
    kept = dict(context.session.jobs.kept())
    if not id and len(kept) == 1:
        return next(iter(kept.items()))
    if id in kept:
        return id, kept[id]
    known = ", ".join(kept)
    if not known:
        raise UsageError("There are no background commands.")
    if not id:
        raise UsageError("Say which: {known}.", known=known)
    raise UsageError("There is no job {id}. There are: {known}.", id=id, known=known)


def _list(context: CommandContext) -> None:
    kept = context.session.jobs.kept()
    if not kept:
        context.ui.show(Notice("There are no background commands."))
        return
    rows = tuple((id, state(job), " ".join(visible(job.command).split())) for id, job in kept)
    context.ui.show(Table(("id", "state", "command"), rows))


def _read(job: Job, context: CommandContext) -> None:
    """The end of all it printed; what the model has not read yet stays unread."""
    head, tail, left_out = head_and_tail(job.output().strip("\n"), SHOWN)
    gap = f"\n[... {left_out} bytes left out ...]\n" if left_out else ""
    context.ui.show(f"{head}{gap}{tail}" or "(no output)")
    context.ui.show(Notice("{state}", {"state": state(job)}))


COMMAND = Command(
    "tasks", "List background commands, read or kill one, or keep it running after the session.", run,
    arguments="[read|kill|keep <id>]", aliases=("jobs",),
)  # fmt: skip
