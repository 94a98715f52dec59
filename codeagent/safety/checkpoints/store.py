"""The private store of checkpoints: contents by digest, compressed and bounded, the least recently used going first.

One SQLite file for all projects, so that what is written is whole or absent, and several sessions can share it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
import zlib
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.private import make_private
from codeagent.safety.checkpoints.states import digest

Sig = tuple[int, int, int, int, int]
"""mode, size, mtime and ctime in nanoseconds, inode; for a folder the mode alone."""
Listing = dict[str, tuple[Sig, str]]
"""What a folder holds: name -> (signature, digest of what is kept of it or "")."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs
  (digest TEXT PRIMARY KEY, used REAL NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON blobs (used, size);
CREATE TABLE IF NOT EXISTS folders (path BLOB PRIMARY KEY, listing BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pending (id TEXT PRIMARY KEY, session TEXT NOT NULL, changes BLOB NOT NULL) WITHOUT ROWID;
"""
_ROOM = 0.8
"""Above the bound it is emptied down to this share of it."""


class Store:
    """Opened on first use; every method may be called from any thread."""

    def __init__(self, path: Path, bound: int) -> None:
        """`bound`: bytes of compressed content to keep."""
        self._path = path
        self._bound = bound
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None
        self._size = 0

    def __enter__(self) -> Store:
        """All that is written within is written as one."""
        self._lock.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._opened is not None and self._opened.in_transaction:
                self._opened.rollback() if kind else self._opened.commit()
        except sqlite3.Error as error:
            raise self._refused(error) from error
        finally:
            self._lock.release()

    def put(self, data: bytes) -> str:
        """Raises StoreError."""
        name = digest(data)
        with self._lock:
            known = self._run("UPDATE blobs SET used = ? WHERE digest = ?", time.time(), name).rowcount
            if not known:
                packed = zlib.compress(data, 1)
                self._run("INSERT INTO blobs VALUES (?, ?, ?, ?)", name, time.time(), len(packed), packed)
                self._size += len(packed)
        return name

    def get(self, name: str) -> bytes | None:
        """None when it has gone. Raises StoreError."""
        with self._lock:
            row = self._run("SELECT data FROM blobs WHERE digest = ?", name).fetchone()
        with suppress(zlib.error):
            return zlib.decompress(row[0]) if row else None
        return None

    def has(self, name: str) -> bool:
        with self._lock:
            return self._run("SELECT 1 FROM blobs WHERE digest = ?", name).fetchone() is not None

    def prune(self) -> None:
        """Let the oldest go while there is more than the bound. Raises StoreError."""
        with self._lock:
            if self._size <= self._bound:
                return
            self._size = self._measured()
            if self._size <= self._bound:
                return
            rows = self._run("SELECT digest, size FROM blobs ORDER BY used").fetchall()
            gone = []
            for name, size in rows:
                if self._size <= self._bound * _ROOM:
                    break
                gone.append((name,))
                self._size -= size
            self._connection().executemany("DELETE FROM blobs WHERE digest = ?", gone)
            self._connection().commit()

    # ---- what was last seen of folders ------------------------------------------------------------------------------

    def folders(self, root: str) -> dict[str, Listing]:
        """What was last seen below `root`; its contents count as used now. Raises StoreError."""
        low = os.fsencode(root)
        with self._lock:
            rows = self._run(
                "SELECT path, listing FROM folders WHERE path = ? OR (path > ? AND path < ?)",
                low,
                low + b"/",
                low + b"0",
            ).fetchall()
            there = {name for (name,) in self._run("SELECT digest FROM blobs")}
            found = {os.fsdecode(path): _unpacked(data, there) for path, data in rows}
            used = [(time.time(), kept) for listing in found.values() for _, kept in listing.values() if kept in there]
            self._connection().executemany("UPDATE blobs SET used = ? WHERE digest = ?", used)
            self._connection().commit()
        return found

    def set_folders(self, listings: Mapping[str, Listing | None]) -> None:
        """Raises StoreError."""
        with self._lock:
            for path, listing in listings.items():
                if listing is None:
                    self._run("DELETE FROM folders WHERE path = ?", os.fsencode(path))
                else:
                    self._run("INSERT OR REPLACE INTO folders VALUES (?, ?)", os.fsencode(path), _packed(listing))

    # ---- what has begun and is not recorded yet ---------------------------------------------------------------------

    def begin(self, id: str, session: str, changes: bytes) -> None:
        with self._lock:
            self._run("INSERT OR REPLACE INTO pending VALUES (?, ?, ?)", id, session, changes)

    def end(self, ids: Iterable[str]) -> None:
        with self._lock:
            for id in ids:
                self._run("DELETE FROM pending WHERE id = ?", id)

    def pending(self, session: str) -> list[tuple[str, bytes]]:
        with self._lock:
            return self._run("SELECT id, changes FROM pending WHERE session = ?", session).fetchall()

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._connection().execute(statement, values)
        except sqlite3.Error as error:
            raise self._refused(error) from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            try:
                self._opened = self._open()
            except (sqlite3.Error, OSError) as error:
                raise self._refused(error) from error
        return self._opened

    def _open(self) -> sqlite3.Connection:
        make_private(self._path.parent)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            return self._ready()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            # Damaged: what it held is lost either way, what comes need not be.
            self._path.replace(self._path.with_suffix(".damaged"))
            for tail in ("-wal", "-shm"):
                self._path.with_name(self._path.name + tail).unlink(missing_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            return self._ready()

    def _ready(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=10.0, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
        self._size = connection.execute("SELECT coalesce(sum(size), 0) FROM blobs").fetchone()[0]
        return connection

    def _measured(self) -> int:
        size: int = self._run("SELECT coalesce(sum(size), 0) FROM blobs").fetchone()[0]
        return size

    def _refused(self, error: Exception) -> StoreError:
        return StoreError("The checkpoints in {path} cannot be used: {reason}.", path=self._path, reason=str(error))


def _packed(listing: Listing) -> bytes:
    return zlib.compress(json.dumps(listing).encode(), 1)


def _unpacked(data: bytes, there: Container[str]) -> Listing:
    """A listing; contents that are not `there` any more count as not kept."""
    return {
        name: ((*sig,), kept if kept in there or stat.S_ISLNK(sig[0]) else "")
        for name, (sig, kept) in json.loads(zlib.decompress(data)).items()
    }
