"""Rows of styled text as values: measured in terminal cells, cut, padded and wrapped, Chinese as well as English.

A `Span` is (style, text), a `Row` a list of spans without a newline. Everything the ui shows is rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.utils import get_cwidth

Span = tuple[str, str]
Row = list[Span]

TAB = "    "
_OPENING = "（［｛〈《「『【〔“‘([{<"
_CLOSING = "，。、；：？！…）］｝〉》」』】〕”’,.;:?!)]}>%"
_WIDE = "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
_PIECE = re.compile(
    f"[ \t]+|[{re.escape(_OPENING)}]*(?:[{_WIDE}]|[^ \t{_WIDE}]+)"
    f"(?:[{re.escape(_CLOSING)}]|[\u0300-\u036f\u200d\ufe0f])*"
)
"""Where a line may be broken: blanks, one wide character with the punctuation that clings to it, or a word."""


def spans(row: Row) -> StyleAndTextTuples:
    """The row as prompt_toolkit's types call it."""
    return cast(StyleAndTextTuples, row)


def width(text: str) -> int:
    """Cells that `text` takes."""
    return len(text) if text.isascii() and text.isprintable() else get_cwidth(text)


def row_width(row: Row) -> int:
    return sum(width(text) for _, text in row)


def text_of(rows: Iterable[Row]) -> str:
    """The rows without their styles, one a line."""
    return "\n".join("".join(text for _, text in row) for row in rows)


def fit(text: str, cells: int) -> str:
    """`text` on one line in at most `cells` cells; what is cut off at the end is told by "…"."""
    text = text.replace("\t", TAB).replace("\n", " ")
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    return f"{text[: _prefix(text, cells - 1)]}…"


def fit_path(text: str, cells: int) -> str:
    """Like `fit`, but the end, which tells paths apart, stays."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    tail = text[::-1]
    return f"…{tail[: _prefix(tail, cells - 1)][::-1]}"


def pad(text: str, cells: int) -> str:
    """`text` cut or filled with blanks to exactly `cells` cells."""
    text = fit(text, cells)
    return text + " " * (cells - width(text))


def _prefix(text: str, cells: int) -> int:
    """How many characters of `text` go into `cells` cells."""
    taken = 0
    for place, char in enumerate(text):
        taken += width(char)
        if taken > cells:
            return place
    return len(text)


def _pieces(row: Row) -> Iterator[list[Span]]:
    """The row in unbreakable pieces, each of one or more spans."""
    line = "".join(text for _, text in row)
    ends: list[tuple[int, str]] = []
    place = 0
    for style, text in row:
        place += len(text)
        ends.append((place, style))
    index = 0
    for found in _PIECE.finditer(line):
        start, end = found.span()
        piece: list[Span] = []
        while start < end:
            while ends[index][0] <= start:
                index += 1
            stop = min(end, ends[index][0])
            piece.append((ends[index][1], line[start:stop]))
            start = stop
        yield piece


def _split(piece: list[Span], cells: int) -> Iterator[list[Span]]:
    """A piece that is wider than a whole row, in parts that are not."""
    part: list[Span] = []
    room = cells
    for style, text in piece:
        while text:
            count = max(_prefix(text, room), 0 if part else 1)
            if count:
                part.append((style, text[:count]))
                room -= width(text[:count])
                text = text[count:]
            if text:
                yield part
                part, room = [], cells
    if part:
        yield part


def wrap(row: Row, cells: int, first: Sequence[Span] = (), rest: Sequence[Span] = ()) -> list[Row]:
    """Break `row` into rows of at most `cells` cells; the first begins with `first`, the others with `rest`."""
    row = [(style, text.replace("\t", TAB)) for style, text in row]
    head = list(first)
    room = max(cells - row_width(head), 2)
    if row_width(row) <= room:
        return [head + row]
    rows: list[Row] = []
    current: Row = []
    used = 0
    further = max(cells - row_width(list(rest)), 2)
    for piece in _pieces(row):
        size = row_width(piece)
        if used + size > room and piece[0][1].isspace():
            continue
        if used + size > room and used:
            rows.append(head + _rstrip(current))
            head, current, used, room = list(rest), [], 0, further
        if size > room:
            *whole, piece = _split(piece, min(room, further))
            for part in whole:
                rows.append(head + part)
                head, room = list(rest), further
            size = row_width(piece)
        current += piece
        used += size
    if current or not rows:
        rows.append(head + _rstrip(current))
    return rows


def chop(row: Row, cells: int, first: Sequence[Span] = (), rest: Sequence[Span] = ()) -> list[Row]:
    """Break `row` wherever the line is full, as source code is: no blank is lost."""
    row = [(style, text.replace("\t", TAB)) for style, text in row]
    room = max(cells - max(row_width(list(first)), row_width(list(rest))), 2)
    parts = [row] if row_width(row) <= room else list(_split(row, room))
    return [[*(rest if place else first), *part] for place, part in enumerate(parts)]


def _rstrip(row: Row) -> Row:
    while row and not row[-1][1].strip():
        row.pop()
    return row


def wrap_text(
    text: str, cells: int, style: str = "", first: Sequence[Span] = (), rest: Sequence[Span] = ()
) -> list[Row]:
    """Every line of `text`, wrapped; `first` stands before the very first row, `rest` before all others."""
    rows: list[Row] = []
    for line in text.split("\n"):
        rows += wrap([(style, line)], cells, rest if rows else first, rest)
    return rows
