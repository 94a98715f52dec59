"""/editor: write the next message in your editor."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Draft, Outcome
from codeagent.core.events import Notice


async def run(args: str, context: CommandContext) -> Outcome:
    text = await context.ui.edit(args)
    if text is None:
        context.ui.show(
            Notice("The editor could not be used; set VISUAL or EDITOR to one that stays open.", {}, "warning")
        )
        return Done()
    return Draft(text) if text.strip() else Done()


COMMAND = Command("editor", "Write the next message in your editor (Ctrl-G).", run)
