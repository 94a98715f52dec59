"""/compact: make the context smaller now."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Outcome, Play


async def run(args: str, context: CommandContext) -> Outcome:
    return Play(context.session.compact(args or None))


COMMAND = Command("compact", "Summarise the conversation so far.", run, arguments="[what to focus on]")
