"""/status: where one stands."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.ui import Table


async def run(args: str, context: CommandContext) -> Outcome:
    status = context.session.status()
    history = context.session.history
    sandbox = context.session.jobs.sandbox
    share = 100 * status.context_tokens / status.window
    context.ui.show(
        Table(
            ("what", "now"),
            (
                ("session", f"{status.session_id} {status.name}".strip()),
                ("model", status.model),
                ("mode", status.mode),
                ("sandbox", str(sandbox.describe()) if sandbox is not None else "off"),
                ("folder", history.session.cwd),
                ("turns", str(status.turns)),
                ("context", f"{status.context_tokens:,} of {status.window:,} tokens ({share:.0f} %)"),
                ("facts", str(len(context.session.memory.facts()))),
            ),
        )
    )
    return Done()


COMMAND = Command("status", "Show session, model, mode and context.", run)
