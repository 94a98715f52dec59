"""/exit: leave."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Exit, Outcome


async def run(args: str, context: CommandContext) -> Outcome:
    return Exit()


COMMAND = Command("exit", "Leave codeagent.", run, aliases=("quit",))
