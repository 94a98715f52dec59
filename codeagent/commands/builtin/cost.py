"""/cost: tokens and money of this session."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.ui import Table


async def run(args: str, context: CommandContext) -> Outcome:
    status = context.session.status()
    cost = "not known for this model" if status.cost_usd is None else f"${status.cost_usd:,.4f}"
    cached = f"{status.cached_tokens:,}"
    if status.prompt_tokens:
        cached += f" ({100 * status.cached_tokens / status.prompt_tokens:.0f} %)"
    context.ui.show(
        Table(
            ("what", "this session"),
            (
                ("tokens in", f"{status.prompt_tokens:,}"),
                ("of them cached", cached),
                ("tokens out", f"{status.completion_tokens:,}"),
                ("price", cost),
            ),
        )
    )
    return Done()


COMMAND = Command("cost", "Show tokens and money of this session.", run, aliases=("usage", "stats"))
