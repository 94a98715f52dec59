"""/doctor: what the endpoint of the session can do."""

from __future__ import annotations

from collections.abc import Mapping

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.core.ui import Table

MARKS: Mapping[str, str] = {"yes": "✓", "no": "✗", "unknown": "?"}


async def run(args: str, context: CommandContext) -> Outcome:
    context.ui.show(Notice("Asking {model} about ten small things …", {"model": context.session.model.name}))
    diagnosis = await context.desk.diagnose()
    rows = tuple((MARKS[one.state], one.what, one.detail) for one in diagnosis.findings)
    context.ui.show(Table(("", "what", "how"), rows))
    for warning in diagnosis.warnings:
        context.ui.show(warning)
    context.ui.show(Notice("What was found is kept; it counts from the next session or /model on."))
    return Done()


COMMAND = Command("doctor", "Examine what the endpoint can do.", run)
