"""Keeping the index like the files: what is new or changed is taken in, what is gone leaves, nothing else is read.

Everything is done in small transactions: interrupted or killed at any point, the next run goes on from there. One
process writes at a time; it holds a lease that runs out when the process dies.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path, PurePosixPath

from codeagent.codebase.chunks import Chunk, cut
from codeagent.codebase.disk import AGAIN, LARGEST, Seen, look, read
from codeagent.codebase.grammars import GRAMMARS, Parsers
from codeagent.codebase.mentions import mentioned
from codeagent.codebase.roots import forget, lease, release, root_id
from codeagent.codebase.store import CodeStore
from codeagent.text.terms import Cuts, document_terms

_BATCH = 40
"""Files of one transaction, at most."""
_BATCH_BYTES = 500_000
_TERM = 100
"""Longer terms are no words that anybody asks for."""
_CUTS = 200_000
"""Words whose terms are kept while an index is built."""
_SPARE = 2_000
"""So many terms of chunks that are gone may always stay."""
_OFTEN = 6
"""A term counts so often in a whole file at most."""

Decode = Callable[[bytes], str | None]
"""Text of a file; None where it is binary."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one update has come."""

    done: int
    total: int
    """Files that are new or changed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an update did."""

    added: int
    removed: int
    left: int
    """Files that are still to be taken in: it was interrupted, or another process is at it."""
    by_other: bool = False
    """Another process is building this index."""


class Builder:
    """Takes the files of roots into a store. Blocks; one thread at a time."""

    def __init__(self, store: CodeStore, decode: Decode) -> None:
        self._store = store
        self._decode = decode
        self._parsers = Parsers()
        self._cuts = Cuts(_TERM)

    def update(
        self,
        root: Path,
        paths: Iterable[str],
        enough: Callable[[], bool] = lambda: False,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Outcome:
        """Bring the index of `root` (a real path) up to what is on disk, until it is `enough`.

        Args:
            paths: the files that belong to it, relative to `root`: whoever lists them honours ignore rules.

        Raises:
            StoreError: the index cannot be used.
        """
        seen = {path: one for path in paths if (one := look(root, path))}
        with self._store.open() as db:
            id = root_id(db, root)
            forget(db)
            _sweep(db, id)
            known = _known(db, id)
            gone = [path for path in known if path not in seen]
            stale = [one for one in seen.values() if _stale(root, one, known.get(one.path))]
            stale.sort(key=lambda one: (-one.modified, one.path))  # what was worked on last can be found first
            if not gone and not stale:
                return Outcome(0, 0, 0)
            if not lease(db, id):
                return Outcome(0, 0, len(stale), by_other=True)
            try:
                return self._work(db, id, root, gone, stale, enough, progress)
            finally:
                release(db, id)

    def behind(self, root: Path, paths: Iterable[str]) -> int:
        """How many of `paths` are new or changed since they were taken in. Raises StoreError."""
        with self._store.open() as db:
            known = _known(db, root_id(db, root))
        looked = ((one, known.get(path)) for path in paths if (one := look(root, path)))
        return sum(_stale(root, one, was) for one, was in looked if was is None or was[:2] != (one.size, AGAIN))

    def refresh(self, root: Path, path: str) -> bool:
        """Take one file of `root` in anew where it has changed; whether it had."""
        with self._store.open() as db:
            id = root_id(db, root)
            seen = look(root, path)
            known = _known(db, id, path).get(path)
            if not (_stale(root, seen, known) if seen else known):
                return False
            db.execute("BEGIN IMMEDIATE")
            if seen is None:
                _drop(db, id, path)
            else:
                self._take(db, id, root, seen)
            db.execute("COMMIT")
            return True

    def _work(
        self,
        db: sqlite3.Connection,
        id: int,
        root: Path,
        gone: Sequence[str],
        stale: Sequence[Seen],
        enough: Callable[[], bool],
        progress: Callable[[Progress], None],
    ) -> Outcome:
        removed = 0
        for part in _parts(gone, 500):
            db.execute("BEGIN IMMEDIATE")
            for path in part:
                _drop(db, id, path)
            db.execute("COMMIT")
            removed += len(part)
        done = added = 0
        progress(Progress(0, len(stale)))
        for batch in _batches(stale):
            if enough() or not lease(db, id):
                break
            db.execute("BEGIN IMMEDIATE")
            for one in batch:
                added += self._take(db, id, root, one)
            db.execute("COMMIT")
            done += len(batch)
            progress(Progress(done, len(stale)))
        return Outcome(added, removed, len(stale) - done)

    def _take(self, db: sqlite3.Connection, root_id: int, root: Path, seen: Seen) -> bool:
        """Take in one file; whether it is another than it was."""
        seen, data, left_out = read(root, seen)
        digest = blake2b(data, digest_size=16, person=left_out.encode()).digest()
        row = db.execute("SELECT id, digest FROM files WHERE root = ? AND path = ?", (root_id, seen.path)).fetchone()
        if row is not None and row[1] == digest:
            db.execute("UPDATE files SET size = ?, modified = ? WHERE id = ?", (seen.size, seen.modified, row[0]))
            return False
        text = None if left_out else self._decode(data)
        if text is None and not left_out:
            left_out = "binary"
        suffix = PurePosixPath(seen.path).suffix.lower()
        said = mentioned(text) if text and suffix in GRAMMARS else b""
        if row is not None:
            db.execute("DELETE FROM files WHERE id = ?", (row[0],))
        made = db.execute(
            "INSERT INTO files (root, path, size, modified, digest, left_out, said) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (root_id, seen.path, seen.size, seen.modified, digest, left_out, said),
        )
        chunks = cut(suffix, text, self._parsers) if text else []
        self._replace(db, (row[0] if row else 0, made.lastrowid or 0), f"r{root_id}", seen.path, chunks)
        return True

    def _replace(
        self, db: sqlite3.Connection, files: tuple[int, int], place: str, path: str, chunks: Sequence[Chunk]
    ) -> None:
        """Chunks of the file (its id before, its id now); those that are as they were keep their rows."""
        before, file = files
        old = {(row[1], row[2]): row[0] for row in db.execute(_CHUNKS, (before,))}
        names = self._terms(path)
        whole = Counter(names)
        for chunk in chunks:
            digest = blake2b(chunk.text.encode("utf-8", "replace"), digest_size=16).digest()
            body = self._terms(chunk.text)
            whole.update(body)
            row = old.pop((chunk.symbol, digest), None)
            if row is not None:
                moved = (file, chunk.start, chunk.end, chunk.line, row)
                db.execute("UPDATE chunks SET file = ?, first = ?, last = ?, line = ? WHERE id = ?", moved)
                continue
            made = db.execute(
                "INSERT INTO chunks (file, first, last, symbol, kind, line, head, digest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (file, chunk.start, chunk.end, chunk.symbol, chunk.kind, chunk.line, chunk.head, digest),
            )
            terms = (made.lastrowid, place, *map(" ".join, (names, self._terms(chunk.symbol), body)))
            db.execute("INSERT INTO terms (rowid, place, path, symbol, body) VALUES (?, ?, ?, ?, ?)", terms)
        db.executemany("DELETE FROM chunks WHERE id = ?", [(row,) for row in old.values()])
        if chunks:
            often = " ".join(" ".join([term] * min(count, _OFTEN)) for term, count in whole.items())
            db.execute("INSERT INTO wholes (rowid, place, body) VALUES (?, ?, ?)", (file, place, often))

    def _terms(self, text: str) -> list[str]:
        if len(self._cuts) > _CUTS:
            self._cuts.clear()
        return document_terms(text, self._cuts)


_CHUNKS = "SELECT id, symbol, digest FROM chunks WHERE file = ?"
_Known = tuple[int, int, str]
"""Of a file as it was taken in: size, time stamp, why it was left out."""


def _known(db: sqlite3.Connection, root: int, path: str | None = None) -> dict[str, _Known]:
    """What the index holds of a root, or of one file of it."""
    asked = "SELECT path, size, modified, left_out FROM files WHERE root = ? AND (? IS NULL OR path = ?)"
    return {row[0]: row[1:] for row in db.execute(asked, (root, path, path))}


def _stale(root: Path, seen: Seen, known: _Known | None) -> bool:
    """Whether a file is to be read: it is new, has changed, or may be read by now."""
    if known is None or known[:2] != (seen.size, seen.modified):
        return True
    return known[2] == "unreadable" and os.access(root / seen.path, os.R_OK)


def _drop(db: sqlite3.Connection, root: int, path: str) -> None:
    where = "SELECT id FROM files WHERE root = ? AND path = ?"
    db.execute(f"DELETE FROM chunks WHERE file IN ({where})", (root, path))
    db.execute("DELETE FROM files WHERE root = ? AND path = ?", (root, path))


def _sweep(db: sqlite3.Connection, root: int) -> None:
    """When more terms belong to nothing than to chunks, forget all, so that everything is read anew."""
    made = dict(db.execute("SELECT name, seq FROM sqlite_sequence"))
    live = {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("chunks", "files")}
    if all(made.get(table, 0) <= 2 * count + _SPARE for table, count in live.items()) or not lease(db, root):
        return
    db.execute("BEGIN IMMEDIATE")
    for table in ("terms", "wholes"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
    for table in ("chunks", "files", "sqlite_sequence"):
        db.execute(f"DELETE FROM {table}")
    db.execute("COMMIT")


def _parts(items: Sequence[str], size: int) -> Iterator[list[str]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def _batches(files: Sequence[Seen]) -> Iterator[list[Seen]]:
    batch: list[Seen] = []
    weight = 0
    for one in files:
        batch.append(one)
        weight += min(one.size, LARGEST)
        if len(batch) == _BATCH or weight > _BATCH_BYTES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
