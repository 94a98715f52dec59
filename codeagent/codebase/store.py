"""The database of the code index: `rag/codebase.db`, SQLite with FTS5 over terms that `text/terms.py` cuts.

It is derived: what is damaged or of an older version is made anew from the files; one of a newer version is left alone.
The text of the files is not in it, only where which chunk stands, what it defines, and the terms of chunks and of whole
files; a file that changes gets a new id. Terms of what is gone stay until there are as many of them as of others; they
match, but belong to nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.private import make_private

VERSION = 3
"""To be raised with every change of the tables, of how files are cut, or of the terms of a text."""
_TABLES = """
    CREATE TABLE roots (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mark TEXT NOT NULL,
        used INTEGER NOT NULL);
    CREATE TABLE files (id INTEGER PRIMARY KEY AUTOINCREMENT, root INTEGER NOT NULL, path TEXT NOT NULL,
        size INTEGER NOT NULL, modified INTEGER NOT NULL, digest BLOB NOT NULL, left_out TEXT NOT NULL,
        said BLOB NOT NULL, UNIQUE (root, path));
    CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, first INTEGER NOT NULL,
        last INTEGER NOT NULL, symbol TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL, head TEXT NOT NULL,
        digest BLOB NOT NULL);
    CREATE INDEX chunks_of ON chunks (file);
    CREATE INDEX symbols ON chunks (symbol) WHERE symbol != '';
    CREATE VIRTUAL TABLE terms USING fts5(place, path, symbol, body, content='', tokenize="ascii tokenchars '._-/:@'");
    CREATE VIRTUAL TABLE wholes USING fts5(place, body, content='', tokenize="ascii tokenchars '._-/:@'");
    CREATE VIRTUAL TABLE known USING fts5vocab(terms, row);
    CREATE TABLE vectors (model TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
        PRIMARY KEY (model, digest)) WITHOUT ROWID;
    CREATE TABLE writer (root INTEGER PRIMARY KEY, pid INTEGER NOT NULL, until REAL NOT NULL);
"""
_PATIENCE = 10.0
"""Seconds to wait for the lock of another process."""


class NewerIndex(StoreError):
    """A newer program made it: it is left as it is."""


class CodeStore:
    """Opens the database, and mends it. Every use opens it anew, from any thread, and blocks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """The database, in autocommit mode; a damaged one is made anew at the next opening.

        Raises:
            StoreError: it cannot be used now: held too long by another process, no room, no permission, newer.
        """
        try:
            db = self._connect()
        except sqlite3.Error as error:
            if _passing(error):
                raise self._unusable(error) from error
            db = self._again()
        except OSError as error:
            raise self._unusable(error.strerror or error) from error
        try:
            yield db
        except sqlite3.Error as error:
            if _passing(error):
                raise self._unusable(error) from error
            db.close()
            with suppress(OSError):
                self.remove()
            message = "The code index {path} is damaged ({reason}); it is made anew when it is next needed."
            raise StoreError(message, path=self.path, reason=error) from error
        finally:
            db.close()

    def remove(self) -> None:
        """Take the database away; it is made anew when it is next needed."""
        for ending in ("-wal", "-shm", ""):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def _again(self) -> sqlite3.Connection:
        """The database made anew in the place of a damaged one."""
        try:
            self.remove()
            return self._connect()
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def _unusable(self, reason: object) -> StoreError:
        if isinstance(reason, OSError):
            reason = reason.strerror or reason
        if getattr(reason, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR:
            reason = f"{reason} (is the disk full?)"
        return StoreError("The code index {path} cannot be used: {reason}.", path=self.path, reason=reason)

    def _connect(self) -> sqlite3.Connection:
        make_private(self.path.parent)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        db = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            if self._version(db) != VERSION:
                self._make(db)
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db

    def _make(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        version = self._version(db)
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"version {version}")
        if version == 0:
            for statement in _TABLES.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")

    def _version(self, db: sqlite3.Connection) -> int:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise NewerIndex(
                "The code index {path} was made by a newer codeagent; it is left as it is.", path=self.path
            )
        return version


def _passing(error: sqlite3.Error) -> bool:
    """Whether the database itself is sound: it is in use, or the disk refuses."""
    passing = (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_INTERRUPT,
    )
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in passing
