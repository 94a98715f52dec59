"""Vectors of facts by content and model, kept in a SQLite file of the cache folder, which may be deleted at any time.

Among many, the nearest are found in two steps: by the signs of their components first, of which two sets are compared
in a tenth of a microsecond, and the best of these in full.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from heapq import nsmallest
from itertools import islice
from operator import gt, mul
from pathlib import Path
from typing import Any

from codeagent.core.private import make_private

NEAREST = 200
"""Facts that are compared in full."""
_SAMPLE = 256
"""Vectors whose mean is the centre: with many models all vectors lie in one corner, and signs alone tell nothing."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (model TEXT, digest BLOB, vector BLOB NOT NULL, PRIMARY KEY (model, digest))"
    " WITHOUT ROWID"
)


class VectorCache:
    """The vectors of one model. Usable from any thread."""

    def __init__(self, path: Path, model: str) -> None:
        """`path` is made on first use; where there can be no file the vectors last as long as this object."""
        self._path = path
        self._model = model
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._known: dict[str, int | None] = {}
        """Signs by content; None while they were not needed."""
        self._centre: array[float] | None = None

    def missing(self, contents: Sequence[str]) -> list[str]:
        """Those of `contents` that have no vector yet, each once. What was known and is not among them is dropped, on
        disk too: it was forgotten."""
        with self._lock:
            gone = self._known.keys() - set(contents)
            for content in gone:
                del self._known[content]
            self._write("DELETE FROM vectors WHERE model = ? AND digest = ?", [(content,) for content in gone])
            unknown = dict.fromkeys(content for content in contents if content not in self._known)
            found = [content for content in unknown if self._row("1", content) is not None]
            self._known.update(dict.fromkeys(found))
            return [content for content in unknown if content not in self._known]

    def put(self, contents: Sequence[str], vectors: Sequence[Sequence[float]]) -> None:
        """Keep a vector for each content."""
        with self._lock:
            rows = [(content, unit(vector).tobytes()) for content, vector in zip(contents, vectors, strict=True)]
            self._write("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._known.update(dict.fromkeys(contents))

    def alike(self, vector: Sequence[float]) -> dict[str, float]:
        """How alike the known contents are to what `vector` stands for: 1 for the nearest, 0 for the mean of the
        nearest 200; those beyond it are left out."""
        with self._lock:
            asked = unit(vector)
            cosines = {content: cosine(asked, self._vector(content)) for content in self._nearest(asked)}
        near = relative(list(cosines.values()))
        return {content: share for content, share in zip(cosines, near, strict=True) if share > 0}

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _nearest(self, asked: array[float]) -> list[str]:
        if len(self._known) <= NEAREST:
            return list(self._known)
        if self._centre is None or len(self._centre) != len(asked):
            sample = [v for content in islice(self._known, _SAMPLE) if len(v := self._vector(content)) == len(asked)]
            self._centre = array("f", [sum(column) / len(sample) for column in zip(*sample, strict=True)])
        signs: dict[str, int] = {}
        for content, known in self._known.items():
            signs[content] = _signs(self._vector(content), self._centre) if known is None else known
        self._known.update(signs)
        wanted = _signs(asked, self._centre)
        return nsmallest(NEAREST, signs, key=lambda content: (signs[content] ^ wanted).bit_count())

    def _vector(self, content: str) -> array[float]:
        """Empty when it has been lost."""
        vector = array("f")
        vector.frombytes(self._row("vector", content) or b"")
        return vector

    def _row(self, column: str, content: str) -> Any:
        query = f"SELECT {column} FROM vectors WHERE model = ? AND digest = ?"
        row = None
        with self._mending() as connection:
            row = connection.execute(query, (self._model, _digest(content))).fetchone()
        return row[0] if row else None

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Each row begins with a content. What cannot be written is made again at the next start."""
        if rows:
            with self._mending() as connection, connection:
                connection.executemany(statement, [(self._model, _digest(content), *rest) for content, *rest in rows])

    @contextmanager
    def _mending(self) -> Iterator[sqlite3.Connection]:
        """The connection. An error inside ends the block; a damaged file is replaced by an empty one."""
        try:
            yield self._open()
        except sqlite3.OperationalError:  # held by another process, no room left
            pass
        except sqlite3.DatabaseError:
            self._close()
            self._connection = _file(self._path, anew=True)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _file(self._path) or _file(self._path, anew=True) or _connect(":memory:")
        return self._connection


def _file(path: Path, *, anew: bool = False) -> sqlite3.Connection | None:
    """The file, private and with its table; None when it cannot be used."""
    try:
        if anew:
            path.unlink(missing_ok=True)
        make_private(path.parent)
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


def relative(cosines: Sequence[float]) -> list[float]:
    """1 for the greatest, 0 for the mean and what lies under it."""
    if not cosines:
        return []
    mean, best = sum(cosines) / len(cosines), max(cosines)
    if best - mean < 1e-6:
        return [1.0] * len(cosines)
    return [max(0.0, (one - mean) / (best - mean)) for one in cosines]


def unit(vector: Sequence[float]) -> array[float]:
    """`vector` with the length 1."""
    length = math.hypot(*vector)
    return array("f", [number / length for number in vector])


def _signs(vector: array[float], centre: array[float]) -> int:
    """One byte a component: 1 where it lies above the centre."""
    return int.from_bytes(bytes(map(gt, vector, centre)))


def cosine(one: array[float], other: array[float]) -> float:
    """Of two units; -1 where there is nothing to compare."""
    return sum(map(mul, one, other)) if len(one) == len(other) else -1.0
