"""/rename: give the session a name."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    if not args:
        context.ui.show(Notice("Say the new name: /rename <name>."))
        return Done()
    context.session.history.rename(args)
    context.ui.show(Notice("This session is now called “{name}”.", {"name": args}))
    return Done()


COMMAND = Command("rename", "Name this session.", run, arguments="<name>")
