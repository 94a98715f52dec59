"""Folders whose files are indexed: known again where they moved, and written by one process at a time."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from codeagent.codebase.disk import AGAIN
from codeagent.core.errors import StoreError

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
    found = db.execute("SELECT id, mark FROM roots WHERE path = ?", (str(root),)).fetchone()
    if found is not None and found[1] == mark:
        return int(found[0])
    db.execute("BEGIN IMMEDIATE")
    id = _moved(db, root, mark) if found is None else _replaced(db, found[0], mark)
    db.execute("COMMIT")
    return id


def _moved(db: sqlite3.Connection, root: Path, mark: str) -> int:
    for id, path in db.execute("SELECT id, path FROM roots WHERE mark = ?", (mark,)).fetchall():
        if not Path(path).exists():
            db.execute("UPDATE roots SET path = ? WHERE id = ?", (str(root), id))
            return int(id)
    db.execute("INSERT OR IGNORE INTO roots (path, mark) VALUES (?, ?)", (str(root), mark))
    return int(db.execute("SELECT id FROM roots WHERE path = ?", (str(root),)).fetchone()[0])


def _replaced(db: sqlite3.Connection, id: int, mark: str) -> int:
    """Another folder stands where this one was: its files are looked at again, whatever their time stamps say."""
    db.execute("UPDATE roots SET mark = ? WHERE id = ?", (mark, id))
    db.execute("UPDATE files SET modified = ? WHERE root = ?", (AGAIN, id))
    return id


def lease(db: sqlite3.Connection, root: int) -> bool:
    """Become the writer of a root, or stay it; False while another process is."""
    now = time.time()
    db.execute("BEGIN IMMEDIATE")
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
