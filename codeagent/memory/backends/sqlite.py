"""Facts in a SQLite file beside the JSON one, for very many of them: a change writes its own rows alone.

No write-ahead log: one file holds everything, may lie on a network drive, and can be copied as a backup.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.messages import encode_json
from codeagent.memory.backends._file import FileBackend, put
from codeagent.memory.entry import BackendKind, Fact, fact_from_json, fact_to_json

VERSION = 1
_COUNTER = slice(24, 28)
"""Bytes of the header that SQLite changes with every commit."""
_PATIENCE = 10.0
"""Seconds to wait for a process that reads or writes without our lock."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The facts, and the number of each one's row. Rows that hold none are not among them, and stay."""

    facts: tuple[Fact, ...] = ()
    numbers: tuple[int, ...] = ()


class SqliteFile(FileBackend[_Rows]):
    """A table `facts` of (seq, body), in order of seq; body is the JSON form of one fact."""

    companions = ("-journal",)

    def nothing(self) -> _Rows:
        return _Rows()

    def facts(self, held: _Rows) -> tuple[Fact, ...]:
        return held.facts

    def read(self, path: Path) -> _Rows:
        if not path.exists():
            return _Rows()
        with _opened(path) as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise StoreError("The memory file {path} was written by a newer version of codeagent.", path=path)
            if version == 0:
                if path.stat().st_size == 0 and not self.backup.exists():
                    return _Rows()
                raise ValueError("no memory file")
            rows = db.execute("SELECT seq, body FROM facts ORDER BY seq").fetchall()
        forms = _forms([body for _, body in rows])
        read = [(number, fact) for (number, _), form in zip(rows, forms, strict=True) if (fact := fact_from_json(form))]
        return _Rows(tuple(fact for _, fact in read), tuple(number for number, _ in read))

    def write(self, held: _Rows, facts: tuple[Fact, ...]) -> _Rows:
        if self.path.exists() and self.path.stat().st_size:
            put(self.backup, self.path.read_bytes())
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            with _opened(self.path) as db:
                db.execute("BEGIN IMMEDIATE")
                db.execute("CREATE TABLE IF NOT EXISTS facts (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)")
                db.execute(f"PRAGMA user_version = {VERSION}")
                numbers = _store(db, held, facts)
                db.execute("COMMIT")
        except ValueError as error:
            raise StoreError("The memory file {path} is damaged: {error}.", path=self.path, error=error) from error
        return _Rows(facts, numbers)

    def state(self) -> object:
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                return stat.st_ino, stat.st_size, file.read(_COUNTER.stop)[_COUNTER]
        except OSError:
            return None


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection; what SQLite complains of is a StoreError, or a ValueError where the file is damaged."""
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as db:
            yield db
    except sqlite3.OperationalError as error:
        raise StoreError("The memory file {path} cannot be used: {error}.", path=path, error=error) from error
    except sqlite3.DatabaseError as error:
        raise ValueError(str(error)) from error


def _store(db: sqlite3.Connection, held: _Rows, facts: tuple[Fact, ...]) -> tuple[int, ...]:
    """Write what differs between the facts that are held and `facts`; the numbers of their rows."""
    start = _same(held.facts, facts)
    end = _same(held.facts[start:][::-1], facts[start:][::-1])
    gone, new = held.numbers[start : len(held.numbers) - end], facts[start : len(facts) - end]
    if len(gone) == len(new):
        db.executemany("UPDATE facts SET body = ? WHERE seq = ?", zip(map(_body, new), gone, strict=True))
        return held.numbers
    if new and end:  # rows in between have no numbers: all behind them move
        gone, new, end = held.numbers[start:], facts[start:], 0
    db.executemany("DELETE FROM facts WHERE seq = ?", ((number,) for number in gone))
    first = db.execute("SELECT coalesce(max(seq), 0) FROM facts").fetchone()[0] + 1
    numbers = range(first, first + len(new))
    db.executemany("INSERT INTO facts (seq, body) VALUES (?, ?)", zip(numbers, map(_body, new), strict=True))
    return (*held.numbers[:start], *numbers, *held.numbers[len(held.numbers) - end :])


def _same(one: Sequence[Fact], other: Sequence[Fact]) -> int:
    """How many facts at the start are the very same."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a is not b), min(len(one), len(other))
    )


def _body(fact: Fact) -> bytes:
    return encode_json(fact_to_json(fact))


def _forms(bodies: Sequence[object]) -> Sequence[object]:
    """The bodies as JSON values, None for what is none. Read all at once, which takes a third of the time."""
    texts = [body if isinstance(body, bytes) else b"null" for body in bodies]
    try:
        forms: list[object] = json.loads(b"[%s]" % b",".join(texts))
        if len(forms) == len(texts):
            return forms
    except (ValueError, RecursionError):
        pass
    return [_form(text) for text in texts]


def _form(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


BACKEND = BackendKind("sqlite", lambda path: SqliteFile(path.with_suffix(".db")))
