"""Vectors of chunks: kept by content in the index, compared all at once. numpy loads on first use; without it, none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from importlib.util import find_spec

LONGEST = 400
"""Characters that a vector is made of: path, name and how a chunk begins. A model on this machine takes a fifth of a
second for so many."""
OF_A_FILE = 300
"""Chunks of one file that get a vector; what has more was made by a program, and is found by words."""
NEAREST = 100
"""Chunks that are near enough to be ranked by meaning."""

OUT = 2.0
"""Standard deviations above the mean of all from which on a chunk stands out; among few chunks none has so many."""


def available() -> bool:
    """Whether vectors can be compared here."""
    return find_spec("numpy") is not None


def missing(
    db: sqlite3.Connection, model: str, roots: Sequence[int], most: int
) -> list[tuple[bytes, int, str, int, int, str]]:
    """(digest, root, path, first and last line, symbol) of chunks without a vector, each content once."""
    return db.execute(
        "SELECT chunks.digest, files.root, files.path, first, last, symbol"
        f" {_lacking(roots)} GROUP BY chunks.digest LIMIT ?",
        (*roots, model, most),
    ).fetchall()


def lacking(db: sqlite3.Connection, model: str, roots: Sequence[int]) -> int:
    """How many contents of chunks have no vector."""
    row = db.execute(f"SELECT count(DISTINCT chunks.digest) {_lacking(roots)}", (*roots, model)).fetchone()
    return int(row[0])


def count(db: sqlite3.Connection, model: str, roots: Sequence[int]) -> int:
    """How many chunks have one."""
    row = db.execute(f"SELECT count(*) {_of(roots)}", (*roots, model)).fetchone()
    return int(row[0])


def put(db: sqlite3.Connection, model: str, digests: Sequence[bytes], vectors: Iterable[Sequence[float]]) -> None:
    """Keep the vector of each content, with the length 1."""
    import numpy

    rows = []
    for digest, vector in zip(digests, vectors, strict=True):
        array = numpy.asarray(vector, dtype=numpy.float32)
        rows.append((model, digest, (array / numpy.linalg.norm(array)).astype(numpy.float16).tobytes()))
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")


def forget(db: sqlite3.Connection) -> None:
    """Drop the vectors of contents that are gone."""
    db.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM chunks)")


def nearest(db: sqlite3.Connection, model: str, roots: Sequence[int], asked: Sequence[float]) -> dict[int, float]:
    """Nearness by chunk id: 1 for the nearest, 0 for the mean of all; the nearest alone, and of these what stands out:
    something is nearest to any words at all."""
    rows = db.execute(f"SELECT chunks.id, vector {_of(roots)}", (*roots, model)).fetchall()
    width = len(asked) * 2
    rows = [row for row in rows if len(row[1]) == width]
    if not rows:
        return {}
    import numpy

    matrix = numpy.frombuffer(b"".join(row[1] for row in rows), dtype=numpy.float16).reshape(len(rows), -1)
    query = numpy.asarray(asked, dtype=numpy.float32)
    cosines = matrix.astype(numpy.float32) @ (query / numpy.linalg.norm(query))
    mean, best = float(cosines.mean()), float(cosines.max())
    if best - mean < 1e-6:
        return {}
    first = numpy.argsort(-cosines)[:NEAREST]
    first = first[cosines[first] >= mean + min(OUT, len(rows) ** 0.5 / 2) * float(cosines.std())]
    return {rows[at][0]: max(0.0, (float(cosines[at]) - mean) / (best - mean)) for at in first.tolist()}


def _of(roots: Sequence[int]) -> str:
    return (
        "FROM chunks JOIN files ON files.id = chunks.file JOIN vectors ON vectors.digest = chunks.digest"
        f" WHERE files.root IN ({_marks(roots)}) AND vectors.model = ?"
    )


def _lacking(roots: Sequence[int]) -> str:
    numbered = "SELECT *, row_number() OVER (PARTITION BY file ORDER BY first) AS place FROM chunks"
    return (
        f"FROM ({numbered}) AS chunks JOIN files ON files.id = chunks.file"
        f" WHERE files.root IN ({_marks(roots)}) AND place <= {OF_A_FILE} AND NOT EXISTS"
        " (SELECT 1 FROM vectors WHERE model = ? AND vectors.digest = chunks.digest)"
    )


def _marks(roots: Sequence[int]) -> str:
    return ",".join("?" * len(roots))
