"""/clear: begin anew in the same session file."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    context.session.clear()
    context.ui.show(Notice("The context is empty; what was said stays in the session file."))
    return Done()


COMMAND = Command("clear", "Start over with an empty context.", run, aliases=("new",))
