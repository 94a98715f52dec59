"""Vectors of facts by content and model, kept in a SQLite file of the cache folder, which may be deleted at any time.

Which of many are nearest is found by the signs of their components first: comparing two takes a tenth of a microsecond.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from heapq import nsmallest
from operator import mul
from pathlib import Path

NEAREST = 200
"""Facts that are compared in full."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, signs BLOB NOT NULL, vector BLOB NOT NULL,"
    " PRIMARY KEY (model, digest)) WITHOUT ROWID"
)


class VectorCache:
    """The vectors of one model; a content is looked up on disk once, then its signs stay in memory. Usable from any
    thread."""

    def __init__(self, path: Path, model: str) -> None:
        """`path` is made on first use; where there can be no file the vectors last as long as this object."""
        self._path = path
        self._model = model
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._signs: dict[str, int] = {}

    def missing(self, contents: Iterable[str]) -> list[str]:
        """Those of `contents` that have no vector yet, each once."""
        with self._lock:
            unknown = dict.fromkeys(content for content in contents if content not in self._signs)
            for content in list(unknown):
                row = self._row("signs", content)
                if row is not None:
                    self._signs[content] = int.from_bytes(row)
                    del unknown[content]
            return list(unknown)

    def put(self, contents: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Keep a vector for each content."""
        rows = []
        with self._lock:
            for content, vector in zip(contents, vectors, strict=True):
                unit = _unit(vector)
                self._signs[content] = signs = _signs(unit)
                size = (len(unit) + 7) // 8
                rows.append((self._model, _digest(content), signs.to_bytes(size), unit.tobytes()))
            with suppress(sqlite3.Error), self._open() as connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def keep(self, contents: Iterable[str]) -> None:
        """Drop the vectors that were asked for and are not among `contents` any more: they were forgotten."""
        with self._lock:
            gone = self._signs.keys() - set(contents)
            for content in gone:
                del self._signs[content]
            if gone:
                with suppress(sqlite3.Error), self._open() as connection:
                    keys = [(self._model, _digest(content)) for content in gone]
                    connection.executemany("DELETE FROM vectors WHERE model = ? AND digest = ?", keys)

    def alike(self, vector: Sequence[float]) -> dict[str, float]:
        """How alike the contents are to what `vector` stands for: 1 for the nearest, 0 for the mean of the nearest
        200; those beyond it are left out."""
        with self._lock:
            asked = _unit(vector)
            signs, known = _signs(asked), self._signs
            nearest = nsmallest(NEAREST, known, key=lambda content: (known[content] ^ signs).bit_count())
            cosines = {content: _cosine(asked, self._row("vector", content)) for content in nearest}
        if not cosines:
            return {}
        mean, best = sum(cosines.values()) / len(cosines), max(cosines.values())
        if best - mean < 1e-6:
            return dict.fromkeys(cosines, 1.0)
        return {content: (cosine - mean) / (best - mean) for content, cosine in cosines.items() if cosine > mean}

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _row(self, column: str, content: str) -> bytes | None:
        query = f"SELECT {column} FROM vectors WHERE model = ? AND digest = ?"
        try:
            row = self._open().execute(query, (self._model, _digest(content))).fetchone()
        except sqlite3.Error:
            return None
        return bytes(row[0]) if row else None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _file(self._path) or _file(self._path, anew=True) or _connect(":memory:")
        return self._connection


def _file(path: Path, *, anew: bool = False) -> sqlite3.Connection | None:
    """The file, private and with its table; None when it cannot be used."""
    try:
        if anew:
            path.unlink(missing_ok=True)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        return _connect(str(path))
    except (OSError, sqlite3.Error):
        return None


def _connect(place: str) -> sqlite3.Connection:
    connection = sqlite3.connect(place, timeout=5, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # it can be made again
        connection.execute(_SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _digest(content: str) -> bytes:
    return sha256(content.encode("utf-8", "surrogatepass")).digest()


def _unit(vector: Sequence[float]) -> array[float]:
    length = math.hypot(*vector)
    return array("f", [number / length for number in vector])


def _signs(vector: array[float]) -> int:
    return int("".join("1" if number > 0 else "0" for number in vector), 2)


def _cosine(asked: array[float], stored: bytes | None) -> float:
    """-1 where there is nothing to compare with."""
    other = array("f")
    other.frombytes(stored or b"")
    return sum(map(mul, asked, other)) if len(other) == len(asked) else -1.0
