"""/memory: look at what is remembered, change it, take changes back."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.facts import changing, looking, task
from codeagent.core.events import Notice

VERBS: dict[str, Callable[[str, CommandContext], Awaitable[None]]] = {
    "list": looking.list_,
    "search": looking.search,
    "show": looking.show,
    "add": changing.save,
    "edit": changing.edit,
    "forget": changing.forget,
    "undo": changing.undo,
    "forgotten": looking.forgotten,
    "injected": looking.injected,
    "stats": looking.stats,
    "suggest": changing.suggest,
    "reload": looking.reload,
    "tattoo": task.tattoo,
    "snapshot": task.snapshot,
    "notes": task.notes,
    "archive": task.archive,
    "promote": task.promote,
    "rollback": task.rollback,
    "log": task.log,
}


async def run(args: str, context: CommandContext) -> Outcome:
    verb, _, rest = args.partition(" ")
    act = VERBS.get(verb or "list")
    if act is None:
        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        told = {"verbs": ", ".join(VERBS), "hint": hint}
        context.ui.show(Notice("/memory knows {verbs}.{hint}", told, "warning"))
    else:
        await act(rest.strip(), context)
    return Done()


COMMAND = Command("memory", "Show and change what is remembered.", run, arguments=f"[{'|'.join(VERBS)}]")
