"""/help: the commands and the keys."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.dispatch import catalog
from codeagent.core.events import Notice
from codeagent.core.ui import Table

LONGEST = 32
"""Characters of arguments in the list; `/help <command>` shows all."""


async def run(args: str, context: CommandContext) -> Outcome:
    wanted = args.removeprefix("/")
    rows = tuple(
        (f"/{command.name} {command.arguments if wanted else _brief(command)}".rstrip(), command.help + _also(command))
        for command in catalog()
        if not wanted or wanted in (command.name, *command.aliases)
    )
    if not rows:
        context.ui.show(Notice("There is no command /{word}; /help lists them.", {"word": wanted}, "warning"))
        return Done()
    context.ui.show(Table(("command", "what it does"), rows))
    if not wanted:
        context.ui.show("More of one: /help <command>. Keys: ? on an empty line. Files: @name. Leave: /exit or Ctrl-D.")
    return Done()


def _brief(command: Command) -> str:
    """The arguments, where they leave room for what the command does."""
    return command.arguments if len(command.arguments) <= LONGEST else "[…]"


def _also(command: Command) -> str:
    return f" (also /{', /'.join(command.aliases)})" if command.aliases else ""


COMMAND = Command("help", "List the commands, or explain one.", run, arguments="[command]")
