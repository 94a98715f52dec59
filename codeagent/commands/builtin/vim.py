"""/vim: the keys of vi in the input, or not."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice

_WORDS = {"on": True, "off": False}


async def run(args: str, context: CommandContext) -> Outcome:
    on = _WORDS.get(args or "on")
    if on is None:
        context.ui.show(Notice("/vim takes “on” or “off”.", {}, "warning"))
    elif context.ui.appear(vim=on):
        context.desk.keep("ui.vim", on)
        now = "The input takes the keys of vi now; /vim off ends that."
        context.ui.show(Notice(now if on else "The input takes the usual keys again."))
    else:
        context.ui.show(Notice("There is no terminal that takes keys.", {}, "warning"))
    return Done()


COMMAND = Command("vim", "Use the keys of vi in the input.", run, arguments="[on|off]")
