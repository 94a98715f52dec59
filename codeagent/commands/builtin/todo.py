"""/todo: the steps of the work at hand."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.core.todo import finished
from codeagent.core.ui import Table

_STATES = {"pending": "open", "in_progress": "under way", "done": "done"}


async def run(args: str, context: CommandContext) -> Outcome:
    items = context.session.todos
    if not items:
        context.ui.show(Notice("There is no todo list; the model makes one for work of several steps."))
        return Done()
    rows = tuple((str(number), item.content, _STATES[item.state]) for number, item in enumerate(items, 1))
    context.ui.show(Table(("", f"{finished(items)} of {len(items)} done", "state"), rows))
    return Done()


COMMAND = Command("todo", "Show the steps of the work at hand.", run)
