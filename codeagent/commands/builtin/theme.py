"""/theme: other colours."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.events import Notice
from codeagent.core.ui import Row, Theme

_WHAT: dict[Theme, str] = {
    "default": "the terminal's own colours; light where it says that its background is",
    "dark": "for a dark background",
    "light": "for a light background",
    "colour-blind": "blue and yellow in the place of green and red",
    "plain": "no colours: bold, dim and underlined alone",
}


async def run(args: str, context: CommandContext) -> Outcome:
    name = args or await context.ui.pick("Which colours?", [Row(name, (name, what)) for name, what in _WHAT.items()])
    if not name:
        return Done()
    theme = next((one for one in _WHAT if one == name), None)
    if theme is None:
        context.ui.show(Notice("There is no theme {name}; there are {all}.", {"name": name, "all": ", ".join(_WHAT)}))
    elif context.ui.appear(theme=theme):
        context.desk.keep("theme", theme)
        context.ui.show(Notice("The colours are {name} from now on.", {"name": theme}))
    else:
        context.ui.show(Notice("There is no terminal to colour.", {}, "warning"))
    return Done()


COMMAND = Command("theme", "Choose other colours.", run, arguments="[name]")
