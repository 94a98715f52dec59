"""The symbol map: what the code defines, ranked by how often the rest of it says those names."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeagent.codebase.mentions import number, unpacked
from codeagent.codebase.search import is_test

_COMMON = 5
"""A name that is defined more often tells little of any of them."""
_LONGEST = 110
"""Characters of a line of the map."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition, and how much the other files refer to it."""

    path: str
    line: int
    symbol: str
    kind: str
    head: str
    worth: float


def ranked(db: sqlite3.Connection, root: int) -> list[Symbol]:
    """The definitions of a root, those that the most other files mention first."""
    rows = db.execute(
        "SELECT files.path, min(line), symbol, kind, head, files.id FROM chunks JOIN files ON files.id = chunks.file"
        " WHERE files.root = ? AND symbol != '' AND kind != 'section' GROUP BY chunks.file, symbol",
        (root,),
    ).fetchall()
    places: dict[str, list[tuple[str, int, str, str, str, int]]] = defaultdict(list)
    for row in rows:
        name = row[2].rpartition(".")[2]
        if not name.startswith("__"):
            places[name].append(row)
    said, files = _said(db, root)
    symbols = [
        Symbol(*row[:-1], worth)
        for name, found in places.items()
        for row in found
        if (worth := _worth(name, row, len(found), said[number(name)] - (number(name) in files.get(row[5], ())))) > 0
    ]
    return sorted(symbols, key=lambda one: (-one.worth, one.path, one.line))


def _said(db: sqlite3.Connection, root: int) -> tuple[Counter[int], dict[int, frozenset[int]]]:
    """(in how many files each name is said, the names that each file says); names as their numbers."""
    files = {
        id: frozenset(unpacked(said))
        for id, said, path in db.execute("SELECT id, said, path FROM files WHERE root = ? AND said != x''", (root,))
        if not is_test(path)
    }
    counts: Counter[int] = Counter()
    for said in files.values():
        counts.update(said)
    return counts, files


def _worth(name: str, row: tuple[str, int, str, str, str, int], places: int, mentions: int) -> float:
    """Mentions by other files, fewer where the name may mean something else, or is nobody else's business."""
    worth = mentions / places
    if places > _COMMON:
        worth *= 0.1
    if name.startswith("_"):
        worth *= 0.1
    if name.islower() and name.isalpha():
        worth *= 0.05 if row[3] == "method" else 0.15
    return worth * (0.1 if is_test(row[0]) else 1.0)


def render(symbols: Sequence[Symbol], tokens: int, estimate: Callable[[str], int]) -> str:
    """As many of the first symbols as fit into `tokens`, by file, the file with the most mentioned first."""
    text = ""
    low, high = 0, len(symbols)
    while low < high:
        middle = (low + high + 1) // 2
        tried = _text(symbols[:middle])
        if estimate(tried) <= tokens:
            low, text = middle, tried
        else:
            high = middle - 1
    return text


def _text(symbols: Sequence[Symbol]) -> str:
    files: dict[str, list[Symbol]] = defaultdict(list)
    for one in symbols:
        files[one.path].append(one)
    lines = []
    for path, found in files.items():
        lines.append(path)
        for one in sorted(found, key=lambda one: one.line):
            indent = "  " * (1 + one.symbol.count("."))
            lines.append(f"{indent}{one.line}: {one.head}"[:_LONGEST])
    return "\n".join(lines)
