"""/agents: the subagents that the model can give work to."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.agents import AgentKind
from codeagent.core.ui import Table


async def run(args: str, context: CommandContext) -> Outcome:
    rows = tuple(_row(kind) for kind in context.session.agents.kinds())
    context.ui.show(Table(("agent", "what for", "tools", "from"), rows))
    return Done()


def _row(kind: AgentKind) -> tuple[str, ...]:
    tools = ", ".join(kind.tools) if kind.tools is not None else "read only" if kind.reads_only else "all"
    model = f" ({kind.model})" if kind.model else ""
    return kind.name, kind.description or "-", tools + model, kind.source or "built in"


COMMAND = Command("agents", "List the subagents that the model can give work to.", run)
