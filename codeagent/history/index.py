"""The full-text index over session files: `history/index.db`, SQLite FTS5 over text cut by `text/terms.py`.

It is derived: what is missing, damaged or of another version is made anew from the session files. Each file is followed
from where it was left, whole lines only, in small transactions; so a kill loses at most one of them, and processes
take turns. Secrets are masked before anything is written.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, TypeVar

from codeagent.core.errors import SessionTooNew, StoreError
from codeagent.core.private import make_private
from codeagent.history import records
from codeagent.history.pieces import RECALL, Line, cut, read_message
from codeagent.text.terms import document_terms

T = TypeVar("T")

VERSION = 1
"""To be raised with every change of the tables, of how texts are cut (`pieces.py`), of the terms of a text
(`text/terms.py`) or of what is masked: an index of another version is made anew. Terms above all, for what is taken
out of the index again is told from its text, and terms that no longer come out of it would stay.
"""
_TABLES = """
    CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
        modified INTEGER NOT NULL, done INTEGER NOT NULL, mark BLOB NOT NULL);
    CREATE TABLE pieces (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, message INTEGER NOT NULL,
        turn INTEGER NOT NULL, role TEXT NOT NULL, at REAL NOT NULL, text BLOB NOT NULL);
    CREATE INDEX pieces_of ON pieces (file);
    CREATE VIRTUAL TABLE terms USING fts5(place, body, content='', tokenize="ascii tokenchars '._-/:@'");
    CREATE VIRTUAL TABLE known USING fts5vocab(terms, col);
"""
_CHUNK = 1 << 19
"""Bytes of a session file taken in by one transaction, a longer line apart."""
_PAUSE = 0.11
"""Seconds left to others between two transactions: SQLite asks for a lock at least every 0.1 s."""
_PATIENCE = 10.0
"""Seconds to wait for the lock of another process."""
_MOST = 1_000_000
"""Characters of one message that are indexed; of an archived result bytes, the first and the last."""
TERM = 100
"""Longer terms are no words that anybody asks for; the index does not have them."""
_MARK = 64
"""So many bytes before the place where a file was left tell that it is still the same file."""


class HistoryIndex:
    """The index of the session files in `folder`. Every call opens it anew, from any thread, and blocks."""

    def __init__(self, folder: Path, mask: Callable[[str], str]) -> None:
        """`mask` puts marks in the place of secrets."""
        self.path = folder / "index.db"
        self.folder = folder
        self._mask = mask

    def update(self, files: Iterable[Path], enough: Callable[[], bool] = lambda: False) -> int:
        """Take in what was appended to `files`, one after the other, until it is `enough`; forget files that are gone.

        Returns:
            Bytes that are still to be taken in.

        Raises:
            StoreError
        """
        wanted = list(files)
        return self._with(lambda db: self._update(db, wanted, enough))

    def ask(
        self, question: Callable[[sqlite3.Connection], T], files: Iterable[Path], enough: Callable[[], bool]
    ) -> tuple[T, int]:
        """`update`, then the answer to a `question` that only reads: both anew where the index turns out damaged.

        Raises:
            StoreError
        """
        wanted = list(files)

        def act(db: sqlite3.Connection) -> tuple[T, int]:
            behind = self._update(db, wanted, enough)
            return question(db), behind

        return self._with(act)

    # ---- opening ---------------------------------------------------------------------------------------------------

    def _with(self, act: Callable[[sqlite3.Connection], T]) -> T:
        """`act` on the open index; one that is damaged is made anew, once."""
        for last in (False, True):
            try:
                with closing(self._open()) as db:
                    return act(db)
            except sqlite3.Error as error:
                if last or _passing(error):
                    raise StoreError("{path} cannot be used: {reason}.", path=self.path, reason=error) from error
                self._remove()
            except OSError as error:
                reason = error.strerror or str(error)
                raise StoreError("{path} cannot be used: {reason}.", path=self.path, reason=reason) from error
        raise AssertionError

    def _open(self) -> sqlite3.Connection:
        make_private(self.folder)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        db = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("BEGIN IMMEDIATE")
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, VERSION):
                    raise sqlite3.DatabaseError(f"version {version}")
                if version == 0:
                    for statement in _TABLES.split(";"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {VERSION}")
                db.execute("COMMIT")
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db

    def _remove(self) -> None:
        for ending in ("-wal", "-shm", ""):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    # ---- taking in -------------------------------------------------------------------------------------------------

    def _update(self, db: sqlite3.Connection, files: list[Path], enough: Callable[[], bool]) -> int:
        try:
            self._prune(db)
            return sum(self._follow(db, path, enough) for path in files)
        except sqlite3.OperationalError as error:
            if not _busy(error):
                raise
        return sum(path.stat().st_size for path in files if path.exists())

    def _follow(self, db: sqlite3.Connection, path: Path, enough: Callable[[], bool]) -> int:
        """Take in one file until it is enough; bytes that are left."""
        try:
            with path.open("rb") as file:
                about = os.fstat(file.fileno())
                left = about.st_size
                known = db.execute("SELECT size, modified FROM files WHERE path = ?", (self.name(path),)).fetchone()
                if known == (about.st_size, about.st_mtime_ns):
                    return 0
                while left:
                    if enough():
                        return left
                    left = self._take(db, path, file)
                    if left:
                        time.sleep(_PAUSE)
        except FileNotFoundError:  # removed this moment: forgotten at the next update
            pass
        return 0

    def _take(self, db: sqlite3.Connection, path: Path, file: BinaryIO) -> int:
        """One transaction over one file; bytes of whole lines that are left, 0 at its end."""
        db.execute("BEGIN IMMEDIATE")
        about = os.fstat(file.fileno())
        id, done = self._place(db, path, file, about.st_size)
        file.seek(done)
        start, ended = done, False
        while done - start < _CHUNK:
            data = file.readline()
            if not data.endswith(b"\n"):
                ended = True
                break
            self._line(db, id, path, data)
            done += len(data)
        size = about.st_size if ended else -1
        row = (size, about.st_mtime_ns, done, _mark(file, done), id)
        db.execute("UPDATE files SET size = ?, modified = ?, done = ?, mark = ? WHERE id = ?", row)
        db.execute("COMMIT")
        return 0 if ended else max(1, about.st_size - done)

    def _place(self, db: sqlite3.Connection, path: Path, file: BinaryIO, size: int) -> tuple[int, int]:
        """(id of a file, where it was left); one that has become another file begins anew."""
        name = self.name(path)
        row = db.execute("SELECT id, done, mark FROM files WHERE path = ?", (name,)).fetchone()
        if row is not None and row[1] <= size and _mark(file, row[1]) == row[2]:
            return row[0], row[1]
        if row is not None:
            self._forget(db, row[0])
        made = db.execute("INSERT INTO files (path, size, modified, done, mark) VALUES (?, -1, 0, 0, '')", (name,))
        return made.lastrowid or 0, 0

    def _line(self, db: sqlite3.Connection, file: int, path: Path, data: bytes) -> None:
        try:
            if records.head_of(data).type != "message":
                return
            line = read_message(data, path.with_suffix(""), _MOST)
        except (*records.UNREADABLE, SessionTooNew):
            return
        if line.role == RECALL or not line.text.strip():
            return
        place = f"f{file} p:{path.parent.name}"
        for text in cut(self._mask(line.text[:_MOST])):
            self._piece(db, file, place, line, text)

    def _piece(self, db: sqlite3.Connection, file: int, place: str, line: Line, text: str) -> None:
        packed = zlib.compress(text.encode("utf-8", "replace"), 1)
        made = db.execute(
            "INSERT INTO pieces (file, message, turn, role, at, text) VALUES (?, ?, ?, ?, ?, ?)",
            (file, line.number, line.turn, line.role, line.at, packed),
        )
        db.execute("INSERT INTO terms (rowid, place, body) VALUES (?, ?, ?)", (made.lastrowid, place, _body(text)))

    def _prune(self, db: sqlite3.Connection) -> None:
        """Forget the session files that are gone."""
        known = db.execute("SELECT id, path FROM files").fetchall()
        gone = [id for id, name in known if not (self.folder / name).exists()]
        if gone:
            db.execute("BEGIN IMMEDIATE")
            for id in gone:
                self._forget(db, id)
            db.execute("COMMIT")

    def _forget(self, db: sqlite3.Connection, file: int) -> None:
        """Take a file out; the terms of a contentless table go by what they were made of."""
        row = db.execute("SELECT path FROM files WHERE id = ?", (file,)).fetchone()
        if row is None:  # another process has done it
            return
        place = f"f{file} p:{Path(row[0]).parent.name}"
        for id, packed in db.execute("SELECT id, text FROM pieces WHERE file = ?", (file,)):
            terms = ("delete", id, place, _body(unpacked(packed)))
            db.execute("INSERT INTO terms (terms, rowid, place, body) VALUES (?, ?, ?, ?)", terms)
        db.execute("DELETE FROM pieces WHERE file = ?", (file,))
        db.execute("DELETE FROM files WHERE id = ?", (file,))

    def name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


def _body(text: str) -> str:
    return " ".join(term for term in document_terms(text) if len(term) <= TERM)


def unpacked(packed: bytes) -> str:
    """The text of a piece."""
    return zlib.decompress(packed).decode()


def _mark(file: BinaryIO, place: int) -> bytes:
    start = max(0, place - _MARK)
    file.seek(start)
    return file.read(place - start)


def _busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _passing(error: sqlite3.Error) -> bool:
    """Whether the index itself is sound: it is in use, or the disk refuses."""
    refused = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
    return _busy(error) or getattr(error, "sqlite_errorcode", 0) & 0xFF in (*refused, sqlite3.SQLITE_PERM)
