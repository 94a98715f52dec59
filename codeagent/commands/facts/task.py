"""The verbs for task memory: constraints, progress and notes in the project's files, and the log of what memory did."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from codeagent.commands.base import CommandContext
from codeagent.core.display import plain, visible
from codeagent.core.errors import UsageError
from codeagent.core.events import Notice
from codeagent.core.ui import Choice, Question, Row
from codeagent.memory.board import HEADINGS, part_named
from codeagent.memory.taskfiles import Name

LOG = 20
_PROMOTE = (
    Choice("yes", "Yes, make it a hard constraint"),
    Choice("no", "No"),
    Choice("stop", "No, and none of the rest"),
)


async def tattoo(typed: str, context: CommandContext) -> None:
    await _file("tattoo", typed, context)


async def notes(typed: str, context: CommandContext) -> None:
    await _file("notes", typed, context)


async def snapshot(typed: str, context: CommandContext) -> None:
    await _file("snapshot", typed, context)


async def _file(name: Name, typed: str, context: CommandContext) -> None:
    """Show a file, open it in the editor, begin it anew, add to it; what is no verb is added as it stands."""
    verb, _, rest = typed.partition(" ")
    act = _VERBS.get(verb.lower())
    if act is not None and not rest.strip():
        await act(name, context)
    elif verb.lower() == "add" and rest.strip():
        await _add(name, rest.strip(), context)
    elif verb.lower() in ("add", *_VERBS, *_OTHER):
        told = "/memory {name} knows show, edit, clear and add <text>."
        if rest.strip():
            told += " To write down “{typed}”: /memory {name} add {typed}"
        context.ui.show(Notice(told, {"name": name, "typed": typed}, "warning"))
    else:
        await _add(name, typed, context)


async def _show(name: Name, context: CommandContext) -> None:
    task = context.session.memory.task
    task.load()
    if task.text(name).strip():
        context.ui.show(visible(task.text(name)))
    else:
        context.ui.show(Notice("There is nothing in {name}.md yet: /memory {name} add <text>", {"name": name}))


async def _add(name: Name, typed: str, context: CommandContext) -> None:
    section, content = _section(typed) if name == "snapshot" else (name, typed)
    updated = await context.session.memory.task.update(section, content, own=False)
    if updated.failed:
        context.ui.show(Notice("{text}", {"text": updated.text}, "warning"))
    else:
        context.ui.show(Notice("{text} {content}", {"text": updated.text, "content": content}))


async def _clear(name: Name, context: CommandContext) -> None:
    kept = await context.session.memory.task.clear(name)
    if kept is None:
        context.ui.show(Notice("There is nothing in {name}.md.", {"name": name}))
    else:
        context.ui.show(Notice("{name}.md begins anew; what it held lies in {path}.", {"name": name, "path": kept}))


async def _edit(name: Name, context: CommandContext) -> None:
    task = context.session.memory.task
    before = task.draft(name)
    edited = await context.ui.edit(before)
    if edited is None or edited == before:
        context.ui.show(Notice("{name}.md was left as it is.", {"name": name}))
        return
    if task.draft(name) != before:
        raise UsageError("{name}.md was changed meanwhile and is left as it is.", name=name)
    edited = plain(edited)
    await task.write(name, edited if edited.endswith("\n") else f"{edited}\n")
    context.ui.show(Notice("Written to {name}.md; the next message tells the model.", {"name": name}))


_VERBS: dict[str, Callable[[Name, CommandContext], Awaitable[None]]] = {
    "": _show,
    "show": _show,
    "list": _show,
    "edit": _edit,
    "clear": _clear,
}
_OTHER = ("help", "--help", "-h", "?", "remove", "rm", "delete", "del", "set", "replace")
"""What people try; adding it as a line would not be what they mean."""


def _section(typed: str) -> tuple[str, str]:
    """Which part of the snapshot is meant, and what is to stand there."""
    for form in (r"([^:：]{1,30})[:：]\s*(.*)", r"(\S+)\s+(.*)"):
        if (found := re.match(form, typed, re.DOTALL)) and (part := part_named(found[1].replace("_", " "))):
            return part, found[2]
    parts = ", ".join(english.lower() for english, _ in HEADINGS.values())
    raise UsageError("A snapshot has {parts}.", parts=parts, hint="/memory snapshot in progress: <text>")


async def archive(typed: str, context: CommandContext) -> None:
    path = await context.session.memory.task.archive()
    context.ui.show(Notice("The snapshot lies in {path}; a new one begins empty.", {"path": path}))


async def promote(typed: str, context: CommandContext) -> None:
    """Offer notes that came again and again as constraints; the person decides on each."""
    task = context.session.memory.task
    if not context.ui.interactive:
        context.ui.show(Notice("/memory promote needs somebody who chooses.", level="warning"))
        return
    offered = task.promotable()
    if not offered:
        context.ui.show(Notice("No note came three times."))
    for note, times in offered:
        answer = await context.ui.ask(Question(f"Noted {times} times. Make it a hard constraint?", _PROMOTE, note))
        if answer.key not in ("yes", "no"):
            break
        if answer.key == "yes":
            updated = await task.update("tattoo", note, own=False)
            task.audit.log("promote", note)
            context.ui.show(Notice("{text}", {"text": updated.text}, "warning" if updated.failed else "info"))


async def rollback(typed: str, context: CommandContext) -> None:
    """Go back to an earlier version that the repository has."""
    task = context.session.memory.task
    wanted = typed
    if not wanted:
        versions = await task.versions.versions()
        if not versions:
            context.ui.show(Notice("The repository has no version of task memory: see memory.git_commit."))
            return
        rows = [Row(version.id, (version.id, version.at, version.subject)) for version in versions]
        wanted = await context.ui.pick("Go back to which version of task memory?", rows) or ""
        if not wanted:
            return
    changed = await task.roll_back(wanted)
    if changed:
        told = {"names": ", ".join(changed), "version": wanted}
        context.ui.show(Notice("Back to {version}: {names}. What they held is in archive/.", told))
    else:
        context.ui.show(Notice("Task memory is as it was at {version}.", {"version": wanted}))


async def log(typed: str, context: CommandContext) -> None:
    lines = context.session.memory.task.audit.tail(int(typed) if typed.isdecimal() else LOG)
    context.ui.show("\n".join(lines) if lines else Notice("Nothing has been logged here."))
