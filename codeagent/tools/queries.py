"""What is asked of a search in files, and what is found, whoever searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codeagent.core.display import plain
from codeagent.tools import globs
from codeagent.tools.base import ToolFault

COLUMNS = 500
"""Characters of a line that are shown."""


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

    @property
    def multiline(self) -> bool:
        return "\\n" in self.pattern or "\n" in self.pattern


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


def path_filter(glob: str) -> Callable[[str], bool]:
    """For a pattern that speaks of folders: whether a path fits it at any depth.

    Raises:
        ToolFault: it cannot be read.
    """
    excluded, wanted = glob.startswith("!"), glob.removeprefix("!")
    try:
        fits = globs.matcher(wanted if wanted.startswith(("/", "**/")) or "/" not in wanted else f"**/{wanted}")
    except ValueError as error:
        if glob:
            raise ToolFault(f"glob {glob} cannot be read: {error}.", "bad pattern") from None
        return lambda path: True
    if "/" not in glob:
        return lambda path: True  # ripgrep has looked at the names
    return lambda path: fits(path.lstrip("/")) != excluded


def shown_line(text: str) -> str:
    text = plain(text.rstrip("\r\n"))
    return text if len(text) <= COLUMNS + 50 else f"{text[:COLUMNS]} [+{len(text) - COLUMNS} characters]"
