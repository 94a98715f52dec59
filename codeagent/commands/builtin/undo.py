"""/undo: take back what the newest turn changed in files."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.going_back import put_back
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    plan = await context.session.saved.back.undoing()
    if plan is None:
        context.ui.show(Notice("There is no change of files to take back."))
    else:
        await put_back(context, plan)
    return Done()


COMMAND = Command("undo", "Take back the last turn's changes of files.", run)
