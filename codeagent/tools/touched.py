"""Which files and folders a call is about."""

from __future__ import annotations

import re
from pathlib import Path

from codeagent.core.tools import Action, Command

MOST = 8
"""Paths of one command at most."""
_WORDS = 200
"""Words of a command that are looked at."""
_LONGEST = 300
_WORD = re.compile(r"""'([^'\n]*)'|"([^"\n]*)"|([^\s'"|&;<>()`$=]+)""")
_INTO = ("cd", "pushd")


def touched(action: Action) -> tuple[str, ...]:
    """Absolute paths of what `action` reads or changes; of a command what its words name and what exists."""
    if isinstance(action.preview, Command):
        return _named(action.preview.text, Path(action.preview.cwd))
    if action.kind in ("read", "edit"):
        return tuple(part.subject for part in action.parts if Path(part.subject).is_absolute())
    return ()


def _named(command: str, cwd: Path) -> tuple[str, ...]:
    """A cheap reading, no parsing: words with a slash or a dot, and those behind `cd`; of a place outside there are
    no instructions, and it is the loader's to know."""
    found: dict[str, None] = {}
    before, folder = "", cwd
    for match, _ in zip(_WORD.finditer(command), range(_WORDS), strict=False):
        word = match[1] or match[2] or match[3] or ""
        into = before in _INTO
        before = word
        if not (into or "/" in word or "." in word) or word in (".", "..") or not 0 < len(word) <= _LONGEST:
            continue
        place = _existing(folder, word) or _existing(cwd, word)
        if place is None:
            continue
        if into and place.is_dir():
            folder = place
        found[str(place)] = None
        if len(found) == MOST:
            break
    return tuple(found)


def _existing(folder: Path, word: str) -> Path | None:
    try:
        place = folder / word
        return place if place.exists() else None
    except (OSError, ValueError):
        return None
