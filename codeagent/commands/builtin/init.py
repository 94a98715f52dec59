"""/init: write a first CODEAGENT.md from what the repository shows."""

from __future__ import annotations

import asyncio

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.tools import Diff
from codeagent.core.ui import Choice, Question
from codeagent.memory.scaffold import LOCAL, Scaffold

_OVERWRITE = (Choice("no", "No, leave it as it is"), Choice("yes", "Yes, overwrite it"))
_TAKE_OVER = (Choice("yes", "Yes, copy it"), Choice("no", "No"))


async def run(args: str, context: CommandContext) -> Outcome:
    scaffold = Scaffold(context.session.memory.project)
    try:
        await _write(scaffold, context)
        if scaffold.ignore_local():
            context.ui.show(Notice("{file} is now in .gitignore.", {"file": LOCAL}))
        await _take_over(scaffold, context)
        if made := await context.session.memory.task.create():
            told = {"names": ", ".join(made), "folder": context.session.memory.task.folder}
            context.ui.show(Notice("Made {names} in {folder}: what outlives the model's context.", told))
    except OSError as error:
        path = error.filename or scaffold.path
        raise StoreError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error) from error
    return Done()


async def _write(scaffold: Scaffold, context: CommandContext) -> None:
    draft, before = await asyncio.to_thread(scaffold.draft), scaffold.existing()
    if before == draft:
        context.ui.show(Notice("CODEAGENT.md says already what the repository shows."))
        return
    if before is not None and before.strip():
        preview = Diff(scaffold.path.name, before, draft)
        answer = await context.ui.ask(Question("There is a CODEAGENT.md already. Overwrite it?", _OVERWRITE, preview))
        if answer.key != "yes":
            context.ui.show(Notice("CODEAGENT.md was left as it is."))
            return
    scaffold.write(draft)
    context.session.reload()
    lines = draft.count("\n")
    context.ui.show(Notice("Wrote CODEAGENT.md ({lines} lines). Add what the code does not show.", {"lines": lines}))


async def _take_over(scaffold: Scaffold, context: CommandContext) -> None:
    """Offer task memory that another agent has left."""
    if not (paths := scaffold.foreign()):
        return
    names = ", ".join(path.name for path in paths)
    answer = await context.ui.ask(Question("Take over the task memory in .agent/memory?", _TAKE_OVER, names))
    if answer.key == "yes":
        scaffold.take_over(paths)
        context.ui.show(Notice("Copied {names} from .agent/memory.", {"names": names}))


COMMAND = Command("init", "Write a first CODEAGENT.md from what the repository shows.", run)
