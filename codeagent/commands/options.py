"""Options of slash commands: words with two dashes in front of the rest; what follows a bare `--` is text."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from codeagent.core.errors import UsageError

NEAR = 0.75
"""From here on a word is taken for a slip in the name of an option."""


def no_option(word: str, known: Collection[str], line: str) -> UsageError:
    """The error for `word`, which is none of the `known` options of what `line` begins ("/save")."""
    near = difflib.get_close_matches(word, known, n=1)
    meant = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}." if known else "It knows none."
    return UsageError("There is no option {word}.", word=word, hint=f"{meant} As text: {line} -- {word} …")


def text(typed: str, line: str) -> str:
    """`typed`, which takes no options, without the `--` that may stand in front. Raises UsageError for an option."""
    word, _, rest = typed.strip().partition(" ")
    if word == "--":
        return rest.strip()
    if word.startswith("--"):
        raise no_option(word, (), line)
    return typed.strip()
