"""Streaming Markdown: text goes in as it comes, settled blocks come out, the unsettled rest is `tail`.

A block settles as soon as nothing that follows can change it: a line of prose or code at its end, a table when it is
over. What came out never changes, how the text was cut into pieces makes no difference, and the sources of
all blocks joined are the text. Each character is looked at a fixed number of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "heading", "item", "rule", "blank", "fence", "code", "end", "table"]

LONGEST = 1200
"""Characters after which an unfinished line of prose settles piecewise."""
TABLE_ROWS = 100
"""Rows after which an unfinished table settles piecewise."""

_FENCE = re.compile(r"^([ \t>]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_ITEM = re.compile(r"^([ \t]*)([-*+•]|\d{1,9}[.)])[ \t]+(.*)$")
_RULE = re.compile(r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,}[ \t]*)$")
_QUOTE = re.compile(r"^ {0,3}((?:>[ \t]?)+)(.*)$")
_DELIMITER = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_SENTENCE = re.compile(r"[。！？；](?=.)|[.!?;,][ \t]+|[ \t]+")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the answer that is settled."""

    kind: Kind
    source: str
    """What it was made of, newline included."""
    text: str = ""
    """Without its marker: prose for text, heading and item, one line for code, whole lines for a table."""
    indent: int = 0
    """Columns by which it is set in."""
    marker: str = ""
    """The bullet or number of an item, the hashes of a heading, the language of a fence."""
    quote: int = 0
    """How many quotations it stands in."""


@dataclass(frozen=True, slots=True)
class _Fence:
    marker: str
    indent: int


class Splitter:
    """Cuts one answer into blocks."""

    def __init__(self) -> None:
        self._line: list[str] = []
        """The line that has no end yet, in the pieces it came in."""
        self._length = 0
        self._continued = False
        """A part of that line has settled already."""
        self._held: list[str] = []
        """Lines of a table, or one that may turn out to be its head."""
        self._table = False
        self._fence: _Fence | None = None

    def feed(self, text: str) -> list[Block]:
        """Take more text; return the blocks that are settled by it."""
        blocks: list[Block] = []
        start = 0
        while (end := text.find("\n", start)) >= 0:
            line = "".join(self._line) + text[start : end + 1]
            self._line, self._length = [], 0
            blocks += self._whole_line(line)
            self._continued = False
            start = end + 1
        if start < len(text):
            self._line.append(text[start:])
            self._length += len(text) - start
            if self._length > LONGEST and not self._held:
                pieces, rest = self._cut("".join(self._line))
                self._line, self._length, self._continued = [rest], len(rest), True
                blocks += pieces
        return blocks

    @property
    def tail(self) -> list[Block]:
        """Blocks for what is not settled yet, as they would be if the text ended here."""
        line = "".join(self._line)
        if line and not self._continued and self._table_goes_on(line):
            return [_table([*self._held, line])]
        return [*self._released(), *(self._blocks(line) if line else ())]

    def end(self) -> list[Block]:
        """The text is over: everything settles."""
        blocks = self.tail
        self._line, self._length, self._continued = [], 0, False
        self._held, self._table, self._fence = [], False, None
        return blocks

    def _whole_line(self, line: str) -> list[Block]:
        if self._held or self._table:
            return self._in_table(line)
        short = not self._continued and len(line) <= LONGEST
        if self._fence is None and short:
            if opened := _FENCE.match(line.rstrip("\r\n")):
                return [self._open(line, opened)]
            if "|" in line:
                self._held = [line]
                return []
        blocks = self._blocks(line)
        if blocks[-1].kind == "end":
            self._fence = None
        return blocks

    def _open(self, line: str, found: re.Match[str]) -> Block:
        self._fence = _Fence(found[2], _columns(found[1].replace(">", "")))
        return Block("fence", line, "", self._fence.indent, found[3].strip(), found[1].count(">"))

    # ---- tables ----------------------------------------------------------------------------------------------------

    def _in_table(self, line: str) -> list[Block]:
        """`line` follows a line with a bar, or a table that has begun."""
        if self._table_goes_on(line):
            self._held.append(line)
            self._table = True
            if len(self._held) < TABLE_ROWS:
                return []
            blocks, self._held = self._released(), []
            return blocks
        blocks, self._held, self._table = self._released(), [], False
        return [*blocks, *self._whole_line(line)]

    def _table_goes_on(self, line: str) -> bool:
        """Whether `line` belongs to the table that is held, or makes one of the line that is."""
        if self._table:
            return "|" in line
        return bool(self._held) and _DELIMITER.match(line.rstrip("\r\n")) is not None

    def _released(self) -> list[Block]:
        """The held lines as blocks."""
        if self._table and self._held:
            return [_table(self._held)]
        return [block for line in self._held for block in self._blocks(line, continued=False)]

    # ---- single lines ----------------------------------------------------------------------------------------------

    def _blocks(self, line: str, continued: bool | None = None) -> list[Block]:
        """A line, or what there is of it, as blocks."""
        continued = self._continued if continued is None else continued
        pieces, rest = self._cut(line, continued)
        return [*pieces, self._block(rest, continued or bool(pieces))]

    def _cut(self, line: str, continued: bool | None = None) -> tuple[list[Block], str]:
        """Pieces of `line` that may settle before its end, and the rest."""
        continued = self._continued if continued is None else continued
        pieces: list[Block] = []
        start = 0
        while len(line) - start > LONGEST:
            end = start + LONGEST
            if self._fence is None:
                for found in _SENTENCE.finditer(line, start + LONGEST // 2, end):
                    end = found.end()
            pieces.append(self._block(line[start:end], continued or bool(pieces)))
            start = end
        return pieces, line[start:]

    def _block(self, line: str, continued: bool) -> Block:
        if self._fence is not None:
            return _code(line, self._fence, continued)
        return Block("text", line, text=line.rstrip("\r\n")) if continued else _prose(line)


def _table(lines: list[str]) -> Block:
    source = "".join(lines)
    return Block("table", source, text=source.rstrip("\n"))


def _code(line: str, fence: _Fence, continued: bool) -> Block:
    text = line.rstrip("\r\n")
    bare = text.strip(" \t>")
    if not continued and bare.startswith(fence.marker) and not bare.strip(fence.marker[0]):
        return Block("end", line)
    indent = 0 if continued else min(fence.indent, len(text) - len(text.lstrip(" \t")))
    return Block("code", line, text=text[indent:], indent=fence.indent)


def _prose(line: str) -> Block:
    text, quote = line.rstrip("\r\n"), 0
    if quoted := _QUOTE.match(text):
        quote, text = quoted[1].count(">"), quoted[2]
    if not text.strip():
        return Block("blank", line, quote=quote)
    if _RULE.match(text):
        return Block("rule", line, quote=quote)
    if heading := _HEADING.match(text):
        return Block("heading", line, heading[2], 0, heading[1], quote)
    if item := _ITEM.match(text):
        return Block("item", line, item[3], _columns(item[1]), item[2], quote)
    indent = len(text) - len(text.lstrip(" \t"))
    return Block("text", line, text.strip(), _columns(text[:indent]), quote=quote)


def _columns(blank: str) -> int:
    return len(blank.expandtabs(4))
