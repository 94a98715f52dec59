"""Tables as rows, laid out by rich; records where the terminal is too narrow for one. Not for the first draw.

Spans pass through rich with their style class as a mark, so that table cells look like everything else.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from rich.box import Box
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from codeagent.ui.inline import inline
from codeagent.ui.rows import Row, row_width, wrap

GAP = 2
NARROW, LEGIBLE = 60, 24
"""In fewer cells than the first a table whose widest column gets fewer than the second becomes records."""
NARROWEST = 6
"""Cells below which a column is no use."""
_BAR = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"^[\s|:-]*-[\s|:-]*$")
_MARK = "class"
_RULED = Box("\n".join(["    ", "    ", " ─  ", "    ", "    ", "    ", "    ", "    "]))
"""Nothing but a line under the head, with a gap between columns."""


def table(
    head: Sequence[Row], body: Sequence[Sequence[Row]], cells: int, right: frozenset[int] = frozenset()
) -> list[Row]:
    """A table in at most `cells` cells; columns in `right` keep to the right. Without `head` there is no line."""
    count = max([len(head), *(len(row) for row in body)], default=0)
    if not count:
        return []
    lines = [head, *body] if head else body
    columns = ([line[column] for line in lines if column < len(line)] for column in range(count))
    needed = [max(row_width(part) for cell in column for part in _lines(cell)) for column in columns]
    over = sum(needed) + GAP * (count - 1) - cells
    squeezed = cells < NARROW and max(needed) - over < LEGIBLE
    if over > 0 and (squeezed or cells < (NARROWEST + GAP) * count):
        return _records(head, body, cells)
    made = Table(box=_RULED, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_header=bool(head))
    made.border_style = _style("class:dim")
    for column in range(count):
        name = head[column] if column < len(head) else []
        made.add_column(
            _text([(f"class:bold {style}".strip(), text) for style, text in name]),
            justify="right" if column in right else "left",
            overflow="fold",
            min_width=min(needed[column], NARROWEST),
        )
    for row in body:
        made.add_row(*(_text(cell) for cell in row))
    console = Console(
        file=io.StringIO(), width=cells, force_terminal=True, color_system="truecolor", legacy_windows=False
    )
    return [_row(line) for line in console.render_lines(made, pad=False)]


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


def _style(name: str) -> Style:
    return Style.from_meta({_MARK: name})


def _text(row: Row) -> Text:
    made = Text(end="")
    for style, text in row:
        made.append(text, _style(style))
    return made


def _row(line: Sequence[Segment]) -> Row:
    """Segments back to spans; what rich padded at the end is no use."""
    row: Row = []
    for segment in line:
        name = segment.style.meta.get(_MARK, "") if segment.style else ""
        if row and row[-1][0] == name:
            row[-1] = (name, row[-1][1] + segment.text)
        else:
            row.append((name, segment.text))
    while row and not row[-1][1].strip():
        row.pop()
    if row:
        row[-1] = (row[-1][0], row[-1][1].rstrip())
    return row


def _records(head: Sequence[Row], body: Sequence[Sequence[Row]], cells: int) -> list[Row]:
    """Each row as lines of "name: value", for terminals that hold no table."""
    rows: list[Row] = []
    for number, line in enumerate(body):
        if number:
            rows.append([("class:dim", "─" * min(cells, 8))])
        for column, cell in enumerate(line):
            name: Row = [*head[column], ("", ": ")] if column < len(head) and head[column] else []
            inset = [("", "  ")]
            for place, part in enumerate(_lines([*(("class:bold", text) for _, text in name), *cell])):
                rows += wrap(part, cells, inset if place else (), inset)
    return rows


def _lines(cell: Row) -> list[Row]:
    """The lines of what stands in a cell."""
    lines: list[Row] = [[]]
    for style, text in cell:
        first, *rest = text.split("\n")
        lines[-1].append((style, first))
        lines += ([(style, part)] for part in rest)
    return lines
