"""From a line that begins with a slash to what follows from it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import cache

from codeagent.commands import builtin
from codeagent.commands.base import Command, CommandContext, Done, Outcome, Send
from codeagent.core.events import Notice
from codeagent.core.plugins import discover

_NAME = re.compile(r"/([a-z][a-z-]*)(?:\s+|$)")


@cache
def catalog() -> Sequence[Command]:
    """Every command, by name."""
    return tuple(sorted(discover(builtin, "COMMAND").values(), key=lambda command: command.name))


@cache
def _by_word() -> dict[str, Command]:
    return {word: command for command in catalog() for word in (command.name, *command.aliases)}


def is_command(line: str) -> bool:
    """Whether `line` is one: a slash and a word. A path such as /usr/bin is something to say."""
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    return first.startswith("/") and "/" not in first[1:]


async def dispatch(line: str, context: CommandContext) -> Outcome:
    """Run the command in `line`. An unknown one names the nearest and never reaches the model.

    Raises:
        CodeAgentError: the command failed; whoever asked for it shows why.
    """
    if not is_command(line):
        return Send(line)
    found = _NAME.match(line.strip())
    command = _by_word().get(found[1]) if found else None
    if found is None or command is None:
        context.ui.show(_unknown(line.split(maxsplit=1)[0]))
        return Done()
    return await command.run(line.strip()[found.end() :].strip(), context)


def _unknown(word: str) -> Notice:
    near = difflib.get_close_matches(word[1:], _by_word(), n=1, cutoff=0.5)
    if near:
        return Notice("There is no command {word}. Did you mean /{near}?", {"word": word, "near": near[0]}, "warning")
    return Notice("There is no command {word}; /help lists them.", {"word": word}, "warning")
