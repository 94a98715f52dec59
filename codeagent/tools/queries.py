"""What is asked of a search in files, and what is found, whoever searches."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codeagent.core.display import plain
from codeagent.tools import globs
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import short

COLUMNS = 500
"""Characters of a line that are shown."""
_BY_NUMBER = re.compile(r"\\(?:[pP]|[xuU]\{|u[0-9A-Fa-f]{4})")


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    target: Path
    mode: Literal["content", "files", "count"] = "content"
    glob: str = ""
    before: int = 0
    after: int = 0
    ignore_case: bool = False
    enough: int = 100
    """Hits after which no more are wanted."""
    hidden: bool = False
    """Look into hidden files below the target, too."""
    files: tuple[str, ...] = ()
    """Look into these files below the target alone."""

    @property
    def multiline(self) -> bool:
        return "\\n" in self.pattern or "\n" in self.pattern

    @property
    def beyond_ascii(self) -> bool:
        """Whether it asks for characters by name that other encodings than Unicode write in other bytes."""
        return not self.pattern.isascii() or _BY_NUMBER.search(self.pattern) is not None


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (number from 1; `match` is False for context), a file (number 0), or a file with its count of lines."""

    path: Path
    number: int = 0
    text: str = ""
    match: bool = True


def bad_pattern(reason: str) -> ToolFault:
    hint = "Escape ( [ { ? * + with a backslash to find them as they are."
    return ToolFault(f"The search failed: the pattern is no regular expression: {reason}. {hint}", "bad pattern")


def path_filter(glob: str, target: Path) -> Callable[[str], bool]:
    """Whether a path below the folder `target` is wanted. A pattern that speaks of folders fits at any depth, also
    with those above `target`; one that excludes means whole folders, too.

    Raises:
        ToolFault: it cannot be read.
    """
    if not glob or target.is_file():
        return lambda path: True
    excluded, wanted = glob.startswith("!"), glob.removeprefix("!").removeprefix("./")
    start = 1 if "/" in wanted else len(os.path.join(target, ""))  # noqa: PTH118 (the length of a prefix)
    try:
        deep = wanted if wanted.startswith(("/", "**/")) or "/" not in wanted else f"**/{wanted}"
        fits = globs.matcher(deep, below=excluded)
    except ValueError as error:
        raise ToolFault(f"glob {short(glob)} cannot be read: {error}.", "bad pattern") from None
    return lambda path: fits(path[start:]) != excluded


def shown_line(text: str) -> str:
    """A line with what a terminal would obey made visible; a long one is cut, whoever read it."""
    text = text.rstrip("\r\n")
    cut = len(text) > COLUMNS + 50
    text = plain(text[:COLUMNS] if cut else text)
    return f"{text} [the line is longer; see it with shell: cut -c]" if cut else text
