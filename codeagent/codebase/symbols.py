"""The symbol map: what the code defines, ranked by how often the rest of it says those names."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeagent.text.terms import document_terms

_MOST = 1_500
"""Names whose mentions are counted."""
_COMMON = 8
"""A name that is defined more often tells nothing of any of them."""
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST = 110
"""Characters of a line of the map."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition, and in how many other chunks its name stands."""

    path: str
    line: int
    symbol: str
    kind: str
    head: str
    mentions: float


def ranked(db: sqlite3.Connection, root: int) -> list[Symbol]:
    """The definitions of a root, the most mentioned first."""
    rows = db.execute(
        "SELECT files.path, first, symbol, kind, head FROM chunks JOIN files ON files.id = chunks.file"
        " WHERE files.root = ? AND symbol != '' AND kind != 'section' GROUP BY chunks.file, symbol",
        (root,),
    ).fetchall()
    places: dict[str, list[tuple[str, int, str, str, str]]] = defaultdict(list)
    for row in rows:
        name = row[2].rpartition(".")[2]
        if not name.startswith("__"):
            places[name].append(row)
    counted = _mentions(db, root, [name for name, found in places.items() if len(found) <= _COMMON])
    symbols = [
        Symbol(*row, _telling(name) * max(0.0, mentions / len(places[name]) - 1))
        for name, mentions in counted.items()
        for row in places[name]
    ]
    return sorted(symbols, key=lambda one: (-one.mentions, one.path, one.line))


def _telling(name: str) -> float:
    """How surely a word that equals a name means it: terms know no case, and `text` is a word of any sentence."""
    parts = _PARTS.findall(name)
    if len(parts) > 1:
        return 0.2 if name.startswith("_") else 1.0
    return 0.05 if name[:1].isupper() else 0.02


def _mentions(db: sqlite3.Connection, root: int, names: Sequence[str]) -> dict[str, int]:
    """In how many chunks each name stands; the most frequent names of all roots are counted."""
    terms = {name: max(document_terms(name), key=len, default="") for name in names}
    everywhere = dict(db.execute("SELECT term, doc FROM known").fetchall()) if names else {}
    most = sorted(names, key=lambda name: -everywhere.get(terms[name], 0))[:_MOST]
    query = "SELECT count(*) FROM terms JOIN chunks ON chunks.id = terms.rowid WHERE terms MATCH ?"
    found = {}
    for name in most:
        quoted = terms[name].replace('"', '""')
        if quoted:
            found[name] = int(db.execute(query, (f'place : "r{root}" AND body : "{quoted}"',)).fetchone()[0])
    return found


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
