"""Tables as rows: columns aligned, cells wrapped where the terminal is narrow, records where it is too narrow."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codeagent.ui.inline import inline
from codeagent.ui.rows import Row, row_width, wrap

GAP = 2
NARROWEST = 6
"""Cells below which a column is no use."""
READABLE = 24
"""Cells with which a column of words can be read."""
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"^[\s|:-]*-[\s|:-]*$")


def table(
    head: Sequence[Row], body: Sequence[Sequence[Row]], cells: int, right: frozenset[int] = frozenset()
) -> list[Row]:
    """A table in at most `cells` cells; columns in `right` keep to the right. Without `head` there is no line."""
    count = max([len(head), *(len(row) for row in body)], default=0)
    if not count:
        return []
    lines = [[*row, *([] for _ in range(count - len(row)))] for row in ([head, *body] if head else body)]
    natural = [max(row_width(line[column]) for line in lines) for column in range(count)]
    if sum(natural) + GAP * (count - 1) > cells and cells < (NARROWEST + GAP) * count:
        return _records(head, body, cells)
    widths = _share(natural, cells - GAP * (count - 1))
    rows: list[Row] = []
    for number, line in enumerate(lines):
        rows += _line(line, widths, "class:bold" if head and not number else "", right)
        if head and not number:
            rows.append([("class:dim", (" " * GAP).join("─" * size for size in widths))])
    return rows


def markdown_table(text: str, cells: int) -> list[Row]:
    """The table written in `text`, a line a row; the second line tells whether there is a head."""
    lines = text.split("\n")
    split = [[inline(cell.strip().replace("\\|", "|")) for cell in _BAR.split(_bare(line))] for line in lines]
    if len(lines) > 1 and _DELIMITER.match(lines[1]):
        marks = [cell.strip() for cell in _BAR.split(_bare(lines[1]))]
        right = frozenset(n for n, mark in enumerate(marks) if mark.endswith(":") and not mark.startswith(":"))
        return table(split[0], split[2:], cells, right)
    return table([], split, cells)


def _bare(line: str) -> str:
    line = line.strip().removeprefix("|")
    return line[:-1] if line.endswith("|") and not line.endswith("\\|") else line


def _share(natural: Sequence[int], cells: int) -> list[int]:
    """Each column gets what it needs, the narrow ones first, as long as the others keep enough to be read."""
    widths = [max(size, 1) for size in natural]
    left = cells
    order = sorted(range(len(widths)), key=widths.__getitem__)
    for place, column in enumerate(order):
        others = [widths[other] for other in order[place + 1 :]]
        kept = min(sum(min(size, READABLE) for size in others), left - left // (len(others) + 1))
        widths[column] = max(min(widths[column], left - kept), 1)
        left -= widths[column]
    return widths


def _line(line: Sequence[Row], widths: Sequence[int], style: str, right: frozenset[int]) -> list[Row]:
    wrapped = [
        wrap([(f"{style} {one}".strip(), text) for one, text in cell], size)
        for cell, size in zip(line, widths, strict=True)
    ]
    rows: list[Row] = []
    for place in range(max(len(column) for column in wrapped)):
        row: Row = []
        for number, (column, size) in enumerate(zip(wrapped, widths, strict=True)):
            part = column[place] if place < len(column) else []
            blank = " " * (size - row_width(part))
            row += [("", blank), *part, ("", " " * GAP)] if number in right else [*part, ("", blank + " " * GAP)]
        rows.append(_trimmed(row))
    return rows


def _trimmed(row: Row) -> Row:
    while row and not row[-1][1].strip():
        row.pop()
    return row


def _records(head: Sequence[Row], body: Sequence[Sequence[Row]], cells: int) -> list[Row]:
    """Each row as lines of "name: value", for terminals that hold no table."""
    rows: list[Row] = []
    for number, line in enumerate(body):
        if number:
            rows.append([("class:dim", "─" * min(cells, 8))])
        for column, cell in enumerate(line):
            name: Row = [*head[column], ("", ": ")] if column < len(head) and head[column] else []
            rows += wrap([*(("class:bold", text) for _, text in name), *cell], cells, (), [("", "  ")])
    return rows
