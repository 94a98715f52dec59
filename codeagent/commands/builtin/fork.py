"""/fork: go on in a copy of this session; the original stays as it is."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Outcome, Switch
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    original = context.session.id
    session = await context.desk.fork(context.session, args or None)
    context.ui.show(Notice("This is a copy now; to the original: /resume {id}.", {"id": original}))
    return Switch(session)


COMMAND = Command("fork", "Go on in a copy of this session.", run, arguments="[name]")
