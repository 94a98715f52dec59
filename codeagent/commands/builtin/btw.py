"""/btw: a question beside the work."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome, Play
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    if not args:
        context.ui.show(Notice("Say what you want to know: /btw <question>."))
        return Done()
    return Play(context.session.aside(args))


COMMAND = Command("btw", "Ask something beside the work; it leaves no trace.", run, arguments="<question>")
