"""/resume: go on with an earlier session."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome, Switch
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    wanted: str | None = args
    if not args:
        rows = [row for row in context.desk.sessions() if row.value != context.session.id]
        if not rows:
            context.ui.show(Notice("There is no other session of this project yet."))
            return Done()
        wanted = await context.ui.pick("Resume which session?", rows)
    if not wanted:
        return Done()
    return Switch(await context.desk.resume(context.session, wanted))


COMMAND = Command("resume", "Go on with an earlier session.", run, arguments="[id]", aliases=("sessions",))
