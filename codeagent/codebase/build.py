"""Keeping the index like the files: what is new or changed is taken in, what is gone leaves, nothing else is read.

Everything is done in small transactions: interrupted or killed at any point, the next run goes on from there. One
process writes at a time; it holds a lease that runs out when the process dies.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path, PurePosixPath

from codeagent.codebase.chunks import Chunk, cut
from codeagent.codebase.grammars import Parsers
from codeagent.codebase.store import CodeStore
from codeagent.text.terms import document_terms

LARGEST = 1_000_000
"""Bytes of a file that is read; larger ones are data, or made by a program."""
_LEASE = 30.0
"""Seconds for which a writer is taken to be alive after its last sign."""
_BATCH = 40
"""Files of one transaction, at most."""
_BATCH_BYTES = 500_000
_TERM = 100
"""Longer terms are no words that anybody asks for."""
_MEMO = 200_000
"""Words whose terms are kept while an index is built."""
_SPARE = 2_000
"""So many terms of chunks that are gone may always stay."""
_NOW = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read may change again within the same time stamp."""

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


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it is on disk."""

    path: str
    size: int
    modified: int


class Builder:
    """Takes the files of roots into a store. Blocks; one thread at a time."""

    def __init__(self, store: CodeStore, decode: Decode) -> None:
        self._store = store
        self._decode = decode
        self._parsers = Parsers()
        self._memo: dict[str, tuple[str, ...]] = {}

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
        seen = {path: one for path in paths if (one := _look(root, path))}
        with self._store.open() as db:
            id = root_id(db, root)
            _sweep(db, id)
            known = {row[0]: row[1:] for row in db.execute(_KNOWN, (id,))}
            gone = [path for path in known if path not in seen]
            stale = [one for one in seen.values() if known.get(one.path) != (one.size, one.modified)]
            if not gone and not stale:
                return Outcome(0, 0, 0)
            if not _lease(db, id):
                return Outcome(0, 0, len(stale), by_other=True)
            try:
                return self._work(db, id, root, gone, stale, enough, progress)
            finally:
                db.execute("DELETE FROM writer WHERE root = ? AND pid = ?", (id, os.getpid()))

    def stale(self, root: Path, paths: Iterable[str]) -> list[str]:
        """Those of `paths` that are new or changed since they were taken in. Raises StoreError."""
        with self._store.open() as db:
            known = {row[0]: row[1:] for row in db.execute(_KNOWN, (root_id(db, root),))}
        return [path for path in paths if (one := _look(root, path)) and known.get(path) != (one.size, one.modified)]

    def refresh(self, root: Path, path: str) -> bool:
        """Take one file of `root` in anew where it has changed; whether it had."""
        with self._store.open() as db:
            id = root_id(db, root)
            seen = _look(root, path)
            known = db.execute(f"{_KNOWN} AND path = ?", (id, path)).fetchone()
            if (known[1:] if known else None) == ((seen.size, seen.modified) if seen else None):
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
        stale: Sequence[_Seen],
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
        done = 0
        progress(Progress(0, len(stale)))
        for batch in _batches(stale):
            if enough() or not _lease(db, id):
                break
            db.execute("BEGIN IMMEDIATE")
            for one in batch:
                self._take(db, id, root, one)
            db.execute("COMMIT")
            done += len(batch)
            progress(Progress(done, len(stale)))
        return Outcome(done, removed, len(stale) - done)

    def _take(self, db: sqlite3.Connection, root_id: int, root: Path, seen: _Seen) -> None:
        """Take in one file; chunks that are as they were keep their rows."""
        seen, data, left_out = _read(root, seen)
        digest = blake2b(data, digest_size=16).digest()
        row = db.execute("SELECT id, digest FROM files WHERE root = ? AND path = ?", (root_id, seen.path)).fetchone()
        if row is not None and row[1] == digest:
            same = (seen.size, seen.modified, left_out, row[0])
            db.execute("UPDATE files SET size = ?, modified = ?, left_out = ? WHERE id = ?", same)
            return
        text = None if left_out else self._decode(data)
        if text is None and not left_out:
            left_out = "binary"
        state = (seen.size, seen.modified, digest, left_out)
        if row is None:
            made = db.execute(
                "INSERT INTO files (size, modified, digest, left_out, root, path) VALUES (?, ?, ?, ?, ?, ?)",
                (*state, root_id, seen.path),
            )
            file = made.lastrowid or 0
        else:
            file = row[0]
            db.execute("UPDATE files SET size = ?, modified = ?, digest = ?, left_out = ? WHERE id = ?", (*state, file))
        suffix = PurePosixPath(seen.path).suffix.lower()
        self._replace(db, root_id, file, seen.path, cut(suffix, text, self._parsers) if text else [])

    def _replace(self, db: sqlite3.Connection, root: int, file: int, path: str, chunks: Sequence[Chunk]) -> None:
        old = {(row[1], row[2]): row[0] for row in db.execute(_CHUNKS, (file,))}
        place, names = f"r{root}", self._joined(path)
        for chunk in chunks:
            digest = blake2b(chunk.text.encode("utf-8", "replace"), digest_size=16).digest()
            row = old.pop((chunk.symbol, digest), None)
            if row is not None:
                db.execute("UPDATE chunks SET first = ?, last = ? WHERE id = ?", (chunk.start, chunk.end, row))
                continue
            made = db.execute(
                "INSERT INTO chunks (file, first, last, symbol, kind, head, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (file, chunk.start, chunk.end, chunk.symbol, chunk.kind, chunk.head, digest),
            )
            terms = (made.lastrowid, place, names, self._joined(chunk.symbol), self._joined(chunk.text))
            db.execute("INSERT INTO terms (rowid, place, path, symbol, body) VALUES (?, ?, ?, ?, ?)", terms)
        db.executemany("DELETE FROM chunks WHERE id = ?", [(row,) for row in old.values()])

    def _joined(self, text: str) -> str:
        if len(self._memo) > _MEMO:
            self._memo.clear()
        return " ".join(term for term in document_terms(text, self._memo) if len(term) <= _TERM)


_KNOWN = "SELECT path, size, modified FROM files WHERE root = ?"
_CHUNKS = "SELECT id, symbol, digest FROM chunks WHERE file = ?"


def _look(root: Path, path: str) -> _Seen | None:
    """A regular file as it is now; None for anything else, for links, and for what is gone."""
    try:
        about = os.lstat(root / path)
        path.encode()  # names that are no text cannot be asked for
    except (OSError, ValueError):
        return None
    return _Seen(path, about.st_size, about.st_mtime_ns) if stat.S_ISREG(about.st_mode) else None


def _read(root: Path, seen: _Seen) -> tuple[_Seen, bytes, str]:
    """(file as it was read, its bytes, why it is left out or "")."""
    if seen.size > LARGEST:
        return seen, b"", "large"
    try:
        descriptor = os.open(root / seen.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            data = file.read(LARGEST + 1) if stat.S_ISREG(about.st_mode) else b""
    except OSError:
        return seen, b"", "unreadable"
    # Read within the grain of its time stamp: a later change might not show in it, so it is looked at again.
    fresh = time.time_ns() - about.st_mtime_ns < _NOW
    now = _Seen(seen.path, about.st_size, -1 if fresh else about.st_mtime_ns)
    return (now, b"", "large") if len(data) > LARGEST else (now, data, "")


def root_id(db: sqlite3.Connection, root: Path) -> int:
    """Id of a root; a folder that was moved or renamed is known again by its place on the disk."""
    row = db.execute("SELECT id FROM roots WHERE path = ?", (str(root),)).fetchone()
    if row is not None:
        return int(row[0])
    about = root.stat()
    mark = f"{about.st_dev}:{about.st_ino}"
    db.execute("BEGIN IMMEDIATE")
    for id, path in db.execute("SELECT id, path FROM roots WHERE mark = ?", (mark,)).fetchall():
        if not Path(path).exists():
            db.execute("UPDATE roots SET path = ? WHERE id = ?", (str(root), id))
            db.execute("COMMIT")
            return int(id)
    made = db.execute("INSERT OR IGNORE INTO roots (path, mark) VALUES (?, ?)", (str(root), mark))
    db.execute("COMMIT")
    return made.lastrowid or 0


def _lease(db: sqlite3.Connection, root: int) -> bool:
    """Become the writer of a root, or stay it; False while another process is."""
    now = time.time()
    db.execute("BEGIN IMMEDIATE")
    row = db.execute("SELECT pid, until FROM writer WHERE root = ?", (root,)).fetchone()
    ours = row is None or row[0] == os.getpid() or not now < row[1] <= now + _LEASE or not _lives(row[0])
    if ours:
        db.execute("INSERT OR REPLACE INTO writer VALUES (?, ?, ?)", (root, os.getpid(), now + _LEASE))
    db.execute("COMMIT")
    return ours


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _drop(db: sqlite3.Connection, root: int, path: str) -> None:
    where = "SELECT id FROM files WHERE root = ? AND path = ?"
    db.execute(f"DELETE FROM chunks WHERE file IN ({where})", (root, path))
    db.execute("DELETE FROM files WHERE root = ? AND path = ?", (root, path))


def _sweep(db: sqlite3.Connection, root: int) -> None:
    """When more terms belong to nothing than to chunks, forget all, so that everything is read anew."""
    made = db.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'").fetchone()[0]
    live = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    if made - live > live + _SPARE and _lease(db, root):
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO terms (terms) VALUES ('delete-all')")
        for table in ("chunks", "files", "sqlite_sequence"):
            db.execute(f"DELETE FROM {table}")
        db.execute("COMMIT")


def _parts(items: Sequence[str], size: int) -> Iterator[list[str]]:
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part


def _batches(files: Sequence[_Seen]) -> Iterator[list[_Seen]]:
    batch: list[_Seen] = []
    weight = 0
    for one in files:
        batch.append(one)
        weight += min(one.size, LARGEST)
        if len(batch) == _BATCH or weight > _BATCH_BYTES:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch
