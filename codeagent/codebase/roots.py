"""Folders whose files are indexed: known again where they moved, written by one process at a time, and forgotten."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Container
from pathlib import Path

from codeagent.codebase.disk import AGAIN
from codeagent.core.errors import StoreError

_DAY = 86_400
_GONE = 14 * _DAY
"""Seconds for which a folder that is not there is remembered: it may have moved, or lie on a disk that comes back."""
_UNUSED = 180 * _DAY
"""Seconds for which a folder that nobody asks about is remembered."""
_LEASE = 30.0
"""Seconds for which a writer is taken to be alive after its last sign."""


def root_id(db: sqlite3.Connection, root: Path) -> int:
    """Id of a root; a folder that was moved or renamed is known again by its place on the disk.

    Raises:
        StoreError: there is no such folder.
    """
    try:
        about = root.stat()
    except OSError as error:
        raise StoreError("The folder {path} cannot be indexed: {reason}.", path=root, reason=error.strerror) from error
    mark = f"{about.st_dev}:{about.st_ino}"
    found = db.execute("SELECT id, mark, used FROM roots WHERE path = ?", (str(root),)).fetchone()
    now = int(time.time())
    if found is not None and found[1] == mark and abs(now - found[2]) < _DAY:
        return int(found[0])
    db.execute("BEGIN IMMEDIATE")
    if found is None:
        id = _moved(db, root, mark)
    else:
        id = int(found[0]) if found[1] == mark else _replaced(db, found[0], mark)
    db.execute("UPDATE roots SET used = ? WHERE id = ?", (now, id))
    db.execute("COMMIT")
    return id


def _moved(db: sqlite3.Connection, root: Path, mark: str) -> int:
    for id, path in db.execute("SELECT id, path FROM roots WHERE mark = ?", (mark,)).fetchall():
        if not Path(path).exists():
            db.execute("UPDATE roots SET path = ? WHERE id = ?", (str(root), id))
            return int(id)
    db.execute("INSERT OR IGNORE INTO roots (path, mark, used) VALUES (?, ?, 0)", (str(root), mark))
    return int(db.execute("SELECT id FROM roots WHERE path = ?", (str(root),)).fetchone()[0])


def _replaced(db: sqlite3.Connection, id: int, mark: str) -> int:
    """Another folder stands where this one was: its files are looked at again, whatever their time stamps say."""
    db.execute("UPDATE roots SET mark = ? WHERE id = ?", (mark, id))
    db.execute("UPDATE files SET modified = ? WHERE root = ?", (AGAIN, id))
    return id


def forget(db: sqlite3.Connection) -> None:
    """Drop what is held of folders that are long gone, or that nobody has asked about for long."""
    now = time.time()
    old = db.execute("SELECT id, path, used FROM roots WHERE used < ?", (now - _GONE,)).fetchall()
    for id, path, used in old:
        if used >= now - _UNUSED and Path(path).is_dir():
            continue
        db.execute("BEGIN IMMEDIATE")
        if db.execute("DELETE FROM roots WHERE id = ? AND used = ?", (id, used)).rowcount:
            db.execute("DELETE FROM chunks WHERE file IN (SELECT id FROM files WHERE root = ?)", (id,))
            db.execute("DELETE FROM files WHERE root = ?", (id,))
        db.execute("COMMIT")


def others(db: sqlite3.Connection, roots: Container[int]) -> tuple[int, int, int]:
    """(other folders, their files, folders among them that are not there)."""
    counts = dict(db.execute("SELECT root, count(*) FROM files GROUP BY root"))
    there = {id: Path(path).is_dir() for id, path in db.execute("SELECT id, path FROM roots") if id not in roots}
    return len(there), sum(counts.get(id, 0) for id in there), sum(not found for found in there.values())


def lease(db: sqlite3.Connection, root: int) -> bool:
    """Become the writer of a root, or stay it; False while another process is."""
    db.execute("BEGIN IMMEDIATE")
    now = time.time()  # behind the wait for the lock: who held it may have renewed its lease meanwhile
    row = db.execute("SELECT pid, until FROM writer WHERE root = ?", (root,)).fetchone()
    ours = row is None or row[0] == os.getpid() or not now < row[1] <= now + _LEASE or not _lives(row[0])
    if ours:
        db.execute("INSERT OR REPLACE INTO writer VALUES (?, ?, ?)", (root, os.getpid(), now + _LEASE))
    db.execute("COMMIT")
    return ours


def release(db: sqlite3.Connection, root: int) -> None:
    """Let others write."""
    db.execute("DELETE FROM writer WHERE root = ? AND pid = ?", (root, os.getpid()))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
