"""A file before and after as a coloured diff with the file's own line numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.core.display import visible
from codeagent.core.tools import Diff
from codeagent.ui.rows import Row, Span, chop

CONTEXT = 3
LONGEST = 6_000
"""Changed lines beyond which the two sides are not compared line by line."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How many lines came and went."""

    added: int
    removed: int

    def __str__(self) -> str:
        return f"+{self.added} −{self.removed}"


@dataclass(frozen=True, slots=True)
class _Line:
    sign: str
    number: int
    text: str


def count(diff: Diff) -> Changes:
    lines = [line for line in _lines(diff) if line is not None]
    return Changes(sum(line.sign == "+" for line in lines), sum(line.sign == "-" for line in lines))


def diff_rows(diff: Diff, cells: int, most: int | None = None) -> list[Row]:
    """The changed places with three lines around them; at most `most` rows, and then how many lines are left out."""
    if diff.before == diff.after:
        return [[("class:dim", "no change")]]
    lines = list(_lines(diff))
    digits = len(str(max((line.number for line in lines if line is not None), default=1)))
    rows: list[Row] = []
    for place, line in enumerate(lines):
        made = _row(line, digits, cells)
        if most is not None and len(rows) + len(made) > most - (place + 1 < len(lines)):
            rows.append([("class:dim", f"{' ' * digits} … {len(lines) - place} more lines (Ctrl-O)")])
            break
        rows += made
    return rows


def _row(line: _Line | None, digits: int, cells: int) -> list[Row]:
    if line is None:
        return [[("class:diff.hunk", f"{' ' * digits} ⋮")]]
    text = visible(line.text)
    style = {"+": "class:diff.add", "-": "class:diff.del", " ": "", "\\": "class:dim"}[line.sign]
    head: list[Span] = [("class:diff.number", f"{line.number or '':>{digits}} "), (style, f"{line.sign} ")]
    return chop([(style, text)], cells, head, [("", " " * (digits + 1)), (style, "  ")])


def _lines(diff: Diff) -> Iterator[_Line | None]:
    """The lines of the diff, None between two places."""
    old, new = _split(diff.before), _split(diff.after)
    first, behind = _same(old, new), 0
    while behind < min(len(old), len(new)) - first and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    start, behind = max(first - CONTEXT, 0), max(behind - CONTEXT, 0)
    old, new = old[start : len(old) - behind], new[start : len(new) - behind]
    if len(old) + len(new) > LONGEST:
        groups = [[("replace", 0, len(old), 0, len(new))]]
    else:
        groups = [list(group) for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT)]
    for number, group in enumerate(groups):
        if number:
            yield None
        for tag, begin, end, at, to in group:
            if tag != "equal":
                yield from (_Line("-", start + place + 1, old[place]) for place in range(begin, end))
            sign = " " if tag == "equal" else "+"
            yield from (_Line(sign, start + place + 1, new[place]) for place in range(at, to))
    if diff.before and diff.after and diff.before.endswith("\n") != diff.after.endswith("\n"):
        yield _Line("\\", 0, "newline at the end of the file " + ("added" if diff.after.endswith("\n") else "removed"))


def _same(old: list[str], new: list[str]) -> int:
    """How many lines both begin with."""
    for place, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return place
    return min(len(old), len(new))


def _split(text: str | None) -> list[str]:
    """Lines as editors count them: only a line feed ends one."""
    lines = (text or "").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines and not lines[-1] else lines
