"""/redo: do again what /undo or /rewind took back last in files."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.going_back import put_back
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    plan = await context.session.saved.back.redoing()
    if plan is None:
        context.ui.show(Notice("There is nothing to do again."))
    else:
        await put_back(context, plan)
    return Done()


COMMAND = Command("redo", "Do again what was taken back last.", run)
