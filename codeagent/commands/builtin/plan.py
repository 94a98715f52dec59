"""/plan: look and think, change nothing."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome, Send
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    context.session.mode = "default" if context.session.mode == "plan" and not args else "plan"
    context.ui.show(Notice("Mode: {mode}.", {"mode": context.session.mode}))
    return Send(args) if args else Done()


COMMAND = Command("plan", "Toggle plan mode: nothing is changed or run.", run, arguments="[request]")
