"""Finding code: chunks by the terms of their text, symbol and path, by meaning where vectors are known, and by file."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codeagent.text.terms import Words, query_terms

CANDIDATES = 400
"""Chunks that are ranked."""
_TERMS = 40
"""Of a longer query the rarest terms serve."""
_WEIGHTS = "0.0, 2.0, 5.0, 1.0"
"""Of place, path, symbol and text."""
_BY_FILE = 0.15
"""How much of what the rest of its file is worth is added to a chunk."""
_WHOLE = 0.6
"""How much of what its file is worth as a whole is added to a chunk, both in shares of the best."""
_NAMED = 1.0
"""What is added where the query names the symbol, in shares of the best score."""
_DEFINED = 1.1
_TEST = 0.75
"""Tests use what the query is about, and repeat its words."""
_MEANT = 0.3
"""Weight of meaning beside words: with more of it, names and rare words that fit are passed over."""
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::)\w+)*")
_TESTS = re.compile(r"(^|[/_.\-])(tests?|spec|specs|testing)([/_.\-]|$)")


@dataclass(frozen=True, slots=True)
class Spot:
    """A chunk that was found."""

    id: int
    root: int
    path: str
    start: int
    end: int
    symbol: str
    kind: str


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the index is asked it."""

    text: str
    terms: Mapping[str, float]
    """Terms with their weights."""

    @classmethod
    def of(cls, text: str, words: Words) -> Question:
        found = query_terms(text, words)
        return cls(text, {term: weight for term, weight in found.weights.items() if term in found.telling})


Places = Mapping[int, str]
"""Ids of the roots that are searched, each with the file or folder in it that the search keeps to ("" for all)."""


def find(
    db: sqlite3.Connection, places: Places, question: Question, near: Mapping[int, float] | None = None
) -> list[Spot]:
    """The chunks that fit, best first; `near` is chunk id → nearness in meaning, from 0 to 1."""
    terms = _known(db, question.terms)
    spots, scores = _by_words(db, places, terms)
    if near:
        spots += _by_id(db, places, [id for id in near if id not in scores])
        scores = {spot.id: scores.get(spot.id, 0.0) + _MEANT * near.get(spot.id, 0.0) for spot in spots}
    wholes = _wholes(db, places, terms)
    named = _named(question.text)
    about_tests = "test" in question.terms
    for spot in spots:
        score = scores[spot.id] * (_DEFINED if spot.kind else 1.0) + _WHOLE * wholes.get((spot.root, spot.path), 0.0)
        if spot.symbol and not named.isdisjoint(_parts(spot.symbol)):
            score += _NAMED
        if not about_tests and is_test(spot.path):
            score *= _TEST
        scores[spot.id] = score
    scores = _with_files(spots, scores)
    return sorted(spots, key=lambda spot: (-scores[spot.id], spot.path, spot.start))


def is_test(path: str) -> bool:
    """Whether a file is called as tests are."""
    return _TESTS.search(path.lower()) is not None


def _with_files(spots: Sequence[Spot], scores: Mapping[int, float]) -> dict[int, float]:
    """To each score a share of what the others of its file are worth: many that fit tell of one that fits well."""
    files: dict[tuple[int, str], list[float]] = defaultdict(list)
    for spot in spots:
        files[spot.root, spot.path].append(scores[spot.id])
    sums = {file: sum(sorted(worth, reverse=True)[:4]) for file, worth in files.items()}
    return {spot.id: scores[spot.id] + _BY_FILE * (sums[spot.root, spot.path] - scores[spot.id]) for spot in spots}


_COLUMNS = "chunks.id, files.root, files.path, chunks.first, chunks.last, chunks.symbol, chunks.kind"


def _by_words(db: sqlite3.Connection, places: Places, terms: Sequence[str]) -> tuple[list[Spot], dict[int, float]]:
    """(the chunks that fit best, what they are worth by their ids; 1 for the best)."""
    if not terms:
        return [], {}
    within, values = _within(places)
    rows = db.execute(
        f"SELECT {_COLUMNS}, terms.rank FROM terms JOIN chunks ON chunks.id = terms.rowid"
        f" JOIN files ON files.id = chunks.file WHERE terms MATCH ? AND rank MATCH 'bm25({_WEIGHTS})'"
        f" AND {within} ORDER BY rank LIMIT {CANDIDATES}",
        (_match(places, "path symbol body", terms), *values),
    ).fetchall()
    return [Spot(*row[:-1]) for row in rows], {row[0]: row[-1] / rows[0][-1] for row in rows}


def _wholes(db: sqlite3.Connection, places: Places, terms: Sequence[str]) -> dict[tuple[int, str], float]:
    """What files are worth as a whole, by root and path; 1 for the best."""
    if not terms:
        return {}
    within, values = _within(places)
    rows = db.execute(
        "SELECT files.root, files.path, wholes.rank FROM wholes JOIN files ON files.id = wholes.rowid"
        f" WHERE wholes MATCH ? AND rank MATCH 'bm25(0.0, 1.0)' AND {within} ORDER BY rank LIMIT {CANDIDATES}",
        (_match(places, "body", terms), *values),
    ).fetchall()
    return {(root, path): rank / rows[0][2] for root, path, rank in rows}


def _match(places: Places, columns: str, terms: Sequence[str]) -> str:
    roots = " OR ".join(f'"r{root}"' for root in places)
    return f"place : ({roots}) AND {{{columns}}} : ({' OR '.join(map(_quoted, terms))})"


def _by_id(db: sqlite3.Connection, places: Places, ids: Sequence[int]) -> list[Spot]:
    within, values = _within(places)
    query = f"SELECT {_COLUMNS} FROM chunks JOIN files ON files.id = chunks.file WHERE chunks.id = ? AND {within}"
    rows = (db.execute(query, (id, *values)).fetchone() for id in ids)
    return [Spot(*row) for row in rows if row is not None]


_ONE = "files.root = ? AND (? = '' OR files.path = ? OR substr(files.path, 1, length(?)) = ?)"


def _within(places: Places) -> tuple[str, list[object]]:
    """(a condition for the files of the places, its values)."""
    values: list[object] = []
    for root, path in places.items():
        values += [root, path, path, f"{path}/", f"{path}/"]
    return f"({' OR '.join(f'({_ONE})' for _ in places)})", values


def _known(db: sqlite3.Connection, terms: Mapping[str, float]) -> list[str]:
    """Those of the terms that occur, the rarest of them where they are many."""
    if len(terms) <= _TERMS:
        return list(terms)
    marks = ",".join("?" * len(terms))
    counts = db.execute(f"SELECT term, doc FROM known WHERE term IN ({marks})", tuple(terms)).fetchall()
    return [term for term, _ in sorted(counts, key=lambda row: row[1])[:_TERMS]]


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _named(query: str) -> set[str]:
    """What of a query can be meant as the name of a symbol: identifiers that look like code, or all of a query."""
    whole = query.strip()
    names = set()
    for found in _IDENTIFIER.findall(query):
        if found == whole or "_" in found or "." in found or "::" in found or re.search("[a-z][A-Z]", found):
            names |= _parts(found)
    return names


def _parts(symbol: str) -> set[str]:
    """A symbol whole and by its last name."""
    folded = symbol.casefold().replace("::", ".")
    return {folded, folded.rpartition(".")[2]}


# ---- passages ------------------------------------------------------------------------------------------------------

PASSAGE = 14
"""Lines of a passage."""


def passage(lines: Sequence[str], start: int, end: int, terms: Mapping[str, float]) -> tuple[int, str]:
    """(number of the first line, the lines of a chunk that fit best); the chunk's lines are `start` to `end`."""
    chunk = lines[start - 1 : end]
    if len(chunk) <= PASSAGE:
        return start, "\n".join(chunk)
    worth = [sum(weight for term, weight in terms.items() if term in line.casefold()) for line in chunk]
    best, first = -1.0, 0
    inside = sum(worth[:PASSAGE])
    for at in range(len(chunk) - PASSAGE + 1):
        if inside > best * 1.001 + 1e-9:
            best, first = inside, at
        inside += (worth[at + PASSAGE] if at + PASSAGE < len(chunk) else 0.0) - worth[at]
    return start + first, "\n".join(chunk[first : first + PASSAGE])
