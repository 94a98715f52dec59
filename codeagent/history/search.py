"""Searching what was said: pieces from the index, ranked, one for each message, with the passage that fits best."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.history.index import TERM, HistoryIndex, unpacked
from codeagent.text.terms import Words, document_terms, query_terms

CANDIDATES = 200
"""Pieces taken from the index that hold all terms of a query, and as many that hold some of them."""
SNIPPET = 320
"""Characters of a passage."""
_SATURATION = 1.2
_TERMS = 48
"""Of a longer query the rarest terms serve."""
_FIND = """
    SELECT files.path, message, turn, role, at, text
    FROM (SELECT rowid AS piece FROM terms WHERE terms MATCH ? AND rank MATCH 'bm25(0.0, 1.0)'
          ORDER BY rank LIMIT ?) AS found
    JOIN pieces ON pieces.id = found.piece JOIN files ON files.id = pieces.file
"""
_Row = tuple[str, int, int, str, float, bytes]
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where to search: one session file, the sessions of a project, or everywhere."""

    file: Path | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message."""

    path: Path
    """Session file."""
    message: int
    turn: int
    role: str
    at: float
    text: str
    literal: bool = False
    """It holds the query as it stands."""
    score: float = 0.0
    """By its words."""


@dataclass(frozen=True, slots=True)
class Found:
    """Messages, each by its best piece, the best first."""

    query: str
    pieces: tuple[Piece, ...]
    weights: Mapping[str, float]
    """What each known term of the query tells."""
    behind: int = 0
    """Bytes that the index has not taken in yet."""

    def snippet(self, piece: Piece) -> str:
        """The passage of `piece` that fits best."""
        return snippet(piece.text, self.weights, self.query)


def search(
    index: HistoryIndex,
    words: Words,
    query: str,
    place: Place,
    files: Iterable[Path],
    enough: Callable[[], bool] = lambda: False,
) -> Found:
    """The messages that share terms with `query`.

    Those that hold the query as it stands come before all others; of equals the newer. What several sessions hold
    word for word, as copies of a session do, is there once.

    Args:
        words: cuts text into lower-cased words.
        files, enough: what the index is to take in first; see `HistoryIndex.update`.

    Raises:
        StoreError: the index cannot be read or made.
    """
    terms = {term: weight for term, weight in query_terms(query, words).weights.items() if len(term) <= TERM}
    if not terms:
        return Found(query, (), {})
    (pieces, shares), behind = index.ask(lambda db: _find(db, index, tuple(terms), place), files, enough)
    weights = {term: terms[term] * -math.log(min(share, 0.99)) for term, share in shares.items()}
    literal = _folded(query)
    scored = [
        replace(piece, literal=literal in _folded(piece.text), score=_score(piece.text, weights)) for piece in pieces
    ]
    return Found(query, tuple(_once(sorted(scored, key=_rank, reverse=True))), weights, behind)


def nearest_first(pieces: Sequence[Piece], near: Sequence[float]) -> list[Piece]:
    """`pieces`, the best by words first, in the order that words and meaning give, half and half."""
    best = max((piece.score for piece in pieces), default=0.0) or 1.0
    fused = [replace(piece, score=(piece.score / best + n) / 2) for piece, n in zip(pieces, near, strict=True)]
    return sorted(fused, key=_rank, reverse=True)


def _rank(piece: Piece) -> tuple[bool, float, float]:
    return piece.literal, piece.score, piece.at


def _score(text: str, weights: Mapping[str, float]) -> float:
    counts = Counter(document_terms(text))
    return sum(
        weight * counts[term] * (_SATURATION + 1) / (counts[term] + _SATURATION)
        for term, weight in weights.items()
        if term in counts
    )


def _once(pieces: Iterable[Piece]) -> list[Piece]:
    """The best piece of each message, and of equal texts the best."""
    seen: set[object] = set()
    once = []
    for piece in pieces:
        keys = {(piece.path, piece.message), (piece.role, piece.text)}
        if not keys & seen:
            once.append(piece)
        seen |= keys
    return once


# ---- finding -------------------------------------------------------------------------------------------------------


def _find(
    db: sqlite3.Connection, index: HistoryIndex, terms: Sequence[str], place: Place
) -> tuple[list[Piece], dict[str, float]]:
    """Candidates, and the share of all pieces that each known term is in."""
    total = max(1, db.execute("SELECT count(*) FROM pieces").fetchone()[0])
    marks = ",".join("?" * len(terms))
    counts = db.execute(f"SELECT term, doc FROM known WHERE col = 'body' AND term IN ({marks})", terms).fetchall()
    shares = {term: count / total for term, count in sorted(counts, key=lambda row: row[1])[:_TERMS]}
    where = _where(db, index, place)
    if not shares or where is None:
        return [], shares
    rows: dict[_Row, None] = {}
    if len(counts) == len(terms):
        rows |= dict.fromkeys(db.execute(_FIND, (where + _match(shares, " AND "), CANDIDATES)))
    if len(rows) < CANDIDATES:
        rows |= dict.fromkeys(db.execute(_FIND, (where + _match(shares, " OR "), CANDIDATES)))
    return [
        Piece(index.folder / path, message, turn, role, at, unpacked(text))
        for path, message, turn, role, at, text in rows
    ], shares


def _where(db: sqlite3.Connection, index: HistoryIndex, place: Place) -> str | None:
    """The beginning of an FTS expression; None where the session is not in the index."""
    if place.file is not None:
        row = db.execute("SELECT id FROM files WHERE path = ?", (index.name(place.file),)).fetchone()
        # What subagents of the session did stands in files of its folder.
        within = _quoted(f"p:{place.file.stem}")
        return f'place : ("f{row[0]}" OR {within}) AND ' if row else None
    return f"place : {_quoted(f'p:{place.project}')} AND " if place.project is not None else ""


def _match(terms: Iterable[str], joint: str) -> str:
    return f"body : ({joint.join(map(_quoted, terms))})"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


# ---- passages ------------------------------------------------------------------------------------------------------


def snippet(text: str, weights: Mapping[str, float], query: str, length: int = SNIPPET) -> str:
    """The passage of `text` that holds most of the terms, of at most about `length` characters."""
    text = text.strip()
    if len(text) <= length:
        return text
    start = _best_start(text.casefold(), weights, query.strip().casefold(), length)
    end = min(len(text), start + length)
    line = text.rfind("\n", max(0, start - length // 4), start)
    start = line + 1 if line >= 0 else start
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def _best_start(text: str, weights: Mapping[str, float], query: str, length: int) -> int:
    """Where the window with the greatest sum of weights begins, each term counted once."""
    room = max(0, min(len(text), length - length // 4))
    at = text.find(query)
    if at >= 0:
        return max(0, min(at - length // 4, len(text) - length))
    found = sorted((hit.start(), term) for term in weights for hit in re.finditer(re.escape(term), text))
    best, best_start = 0.0, 0
    inside: Counter[str] = Counter()
    first, weight = 0, 0.0
    for place, term in found:
        weight += 0.0 if inside[term] else weights[term]
        inside[term] += 1
        while found[first][0] < place - room:
            left = found[first][1]
            inside[left] -= 1
            weight -= 0.0 if inside[left] else weights[left]
            first += 1
        if weight > best + 1e-9:
            best, best_start = weight, found[first][0]
    return max(0, min(best_start - length // 8, len(text) - length))


def _folded(text: str) -> str:
    return _BLANKS.sub(" ", text).strip().casefold()
