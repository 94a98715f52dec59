"""A page of a text: numbered lines within the bounds of one call, and how the next page is asked for."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from codeagent.core.tools import ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import Encoding
from codeagent.tools.holding import open_held
from codeagent.tools.paths import counted

LINES = 2_000
_BLOCK = 1_000_000
_COUNTED = 1_000_000_000
"""Bytes of a file whose lines are counted to the end."""
_COUNTED_WIDE = 50_000_000
"""The same where a line end is more than one byte."""


@dataclass(frozen=True, slots=True)
class Page:
    lines: list[str]
    first: int
    total: int | None
    """Lines of the whole, None where they were not counted."""


def read_page(path: Path, encoding: Encoding, offset: int, limit: int, room: int) -> Page:
    """Up to `limit` lines and `room` bytes from line `offset` on, in little memory whatever the size of the file.

    Blocks. "\\n" alone ends a line, or "\\r" where there is no other, as for grep. Raises OSError.
    """
    wide = encoding.name.startswith(("utf-16", "utf-32"))
    end = "\r" if encoding.carriage_returns else "\n"
    with open_held(path) as raw:
        raw.seek(len(encoding.bom))
        skipped = 0 if wide else _skip_lines(raw, offset - 1, end.encode())
        text = io.TextIOWrapper(raw, encoding=encoding.name, errors="replace", newline=end)
        lines, number, ended = _take(text, skipped, offset, limit, room, end)
    if ended:
        return Page(lines, offset, number)
    return Page(lines, offset, _count_wide(path, encoding, end) if wide else _count(path, end.encode()))


def _take(
    text: io.TextIOWrapper, number: int, offset: int, limit: int, room: int, end: str
) -> tuple[list[str], int, bool]:
    """(lines of the page, number of the last line read, whether that was the last of all)."""
    lines: list[str] = []
    used = 0
    while piece := text.readline(bounds.LINE + 1):
        if len(lines) == limit:
            return lines, number, False
        number += 1
        more = 0 if piece.endswith(end) else _rest_of_line(text, end)
        if number < offset:
            continue
        line = _numbered(number, piece if more else piece.rstrip("\r\n"), more)
        used += bounds.size(line) + 1
        if lines and used > room:
            return lines, number, False
        lines.append(line)
    return lines, number, True


def _skip_lines(raw: BinaryIO, count: int, newline: bytes) -> int:
    """Put `raw` behind so many lines, or at its end; how many there were."""
    at, skipped, last = raw.tell(), 0, newline
    while skipped < count and (block := raw.read(_BLOCK)):
        found = block.count(newline)
        if skipped + found >= count:
            end = 0
            for _ in range(count - skipped):
                end = block.index(newline, end) + 1
            raw.seek(at + end)
            return count
        skipped += found
        at += len(block)
        last = block[-1:]
    return skipped + (last != newline)


def _rest_of_line(text: io.TextIOWrapper, end: str) -> int:
    """Read to the end of the line; how many characters that were."""
    skipped = 0
    while rest := text.readline(65_536):
        skipped += len(rest.rstrip("\r\n"))
        if rest.endswith(end):
            break
    return skipped


def _count(path: Path, newline: bytes) -> int | None:
    with open_held(path) as raw:
        if path.stat().st_size > _COUNTED:
            return None
        total, last = 0, newline
        while block := raw.read(_BLOCK):
            total += block.count(newline)
            last = block[-1:]
    return total + (last != newline)


def _count_wide(path: Path, encoding: Encoding, end: str) -> int | None:
    if path.stat().st_size > _COUNTED_WIDE:
        return None
    with open_held(path) as raw:
        return sum(1 for _ in io.TextIOWrapper(raw, encoding=encoding.name, errors="replace", newline=end))


def page_of(lines: Iterable[str], offset: int, limit: int, room: int) -> Page:
    """The same of lines that are in memory."""
    all = list(lines)
    taken: list[str] = []
    used = 0
    for number, text in enumerate(all[offset - 1 : offset - 1 + limit], offset):
        line = _numbered(number, text, 0)
        used += bounds.size(line) + 1
        if taken and used > room:
            break
        taken.append(line)
    return Page(taken, offset, len(all))


def _numbered(number: int, text: str, more: int) -> str:
    over = len(text) - bounds.LINE + more
    if over <= 0:
        return f"{number}\t{text}"
    return f"{number}\t{text[: bounds.LINE]} [+{over} characters; see them with shell: cut -c]"


def answer(page: Page, name: str, *notes: str) -> ToolResult:
    """What the model reads; `notes` stand at the end.

    Raises:
        ToolFault: the page lies behind the end.
    """
    if not page.lines:
        lines = "lines" if page.total is None else counted(page.total, "line")
        raise ToolFault(f"{name} has {lines}; offset {page.first} is behind its end.", "behind the end")
    last = page.first + len(page.lines) - 1
    partial = page.total is None or last < page.total
    if partial:
        of = f" of {page.total}" if page.total is not None else ""
        notes = (f"[lines {page.first}-{last}{of}; go on with offset={last + 1}]", *notes)
    summary = counted(len(page.lines), "line") + (f" of {page.total:,}" if partial and page.total else "")
    return ToolResult("\n".join((*page.lines, *notes)), partial=partial, summary=summary)
