"""Facts in one readable JSON file.

A change takes the lock, reads the file anew, and puts a new one in its place: written aside, flushed to the disk,
renamed; the file before it stays as `.bak`. A file that cannot be understood is set aside and never overwritten.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.memory.backends._lock import locked
from codeagent.memory.entry import BackendKind, Change, Fact, fact_from_json, fact_to_json

VERSION = 1


@dataclass(frozen=True, slots=True)
class _Document:
    """What a file holds: facts, entries that are none (kept, behind them), and unknown fields at the top."""

    facts: tuple[Fact, ...] = ()
    others: tuple[Any, ...] = ()
    top: dict[str, Any] = field(default_factory=dict)


class JsonFile:
    """A backend over one file, which may be a symbolic link."""

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self._lock = self._path.with_name(self._path.name + ".lock")
        self._backup = self._path.with_name(self._path.name + ".bak")
        self._seen: tuple[int, int, int] | None = None
        self._document = _Document()
        self._notices: dict[str, Notice] = {}
        self._told: set[str] = set()

    def load(self) -> Sequence[Fact]:
        """All facts, in the order they were added; what is wrong with the file stands in `notices`."""
        state = self._state()
        if state is None or state != self._seen:
            try:
                self._document = self._read()
            except ValueError:
                self._mend()
            except (StoreError, OSError) as error:
                self._document = _Document()
                self._notice("The memory file cannot be read: {error}", error=str(error))
            self._seen = self._state()
        return self._document.facts

    def update(self, change: Change) -> None:
        """Store `change(facts)` under the lock.

        Raises:
            StoreError: the file cannot be read, locked or written, or is of a newer version; nothing has changed.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._lock):
                document = self._read_or_restore()
                facts = tuple(change(document.facts))
                if facts != document.facts:
                    document = _Document(facts, document.others, document.top)
                    self._write(document)
                self._document, self._seen = document, self._state()
        except OSError as error:
            raise StoreError(
                "The memory file {path} cannot be written: {error}.", path=self._path, error=error
            ) from error

    def notices(self) -> tuple[Notice, ...]:
        """What has become known since the last call; the same is never told twice."""
        news = tuple(self._notices.values())
        self._told.update(self._notices)
        self._notices.clear()
        return news

    def _mend(self) -> None:
        """The file cannot be understood: set it aside, unless another process has done so meanwhile."""
        try:
            with locked(self._lock):
                self._document = self._read_or_restore()
        except (StoreError, OSError) as error:
            self._document = self._from_backup()
            self._notice("The memory file is damaged and cannot be set aside: {error}", error=str(error))

    def _read_or_restore(self) -> _Document:
        """The file as it is; a damaged one is set aside and its backup takes its place. The lock must be held."""
        try:
            return self._read()
        except ValueError:
            aside = self._free_name()
            self._path.rename(aside)
        document = self._from_backup()
        self._write(document)
        self._notice(
            "The memory file was damaged: it was set aside as {aside}, the backup ({count} facts) is used instead.",
            aside=str(aside),
            count=len(document.facts),
        )
        return document

    def _read(self, path: Path | None = None) -> _Document:
        """Raises ValueError for a damaged file, StoreError for one of a newer version. A missing one is empty."""
        try:
            data = (path or self._path).read_bytes()
        except FileNotFoundError:
            return _Document()
        return _parse(data, self._path)

    def _from_backup(self) -> _Document:
        try:
            return self._read(self._backup)
        except (ValueError, StoreError, OSError):
            return _Document()

    def _write(self, document: _Document) -> None:
        entries = [*map(fact_to_json, document.facts), *document.others]
        text = json.dumps({"version": VERSION, **document.top, "entries": entries}, ensure_ascii=False, indent=2)
        with contextlib.suppress(FileNotFoundError):
            _replace(self._backup, self._path.read_bytes())
        _replace(self._path, text.encode("utf-8", "replace") + b"\n")

    def _state(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _free_name(self) -> Path:
        number = 1
        while (aside := self._path.with_name(f"{self._path.name}.damaged-{number}")).exists():
            number += 1
        return aside

    def _notice(self, message: str, **arguments: object) -> None:
        notice = Notice(message, arguments, "warning")
        if str(notice) not in self._told:
            self._notices[str(notice)] = notice


def _parse(data: bytes, path: Path) -> _Document:
    try:
        form = json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if isinstance(form, list):
        form = {"entries": form}
    if not isinstance(form, dict) or not isinstance(entries := form.pop("entries", None), list):
        raise ValueError("no memory file")
    version = form.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise StoreError("The memory file {path} was written by a newer version of codeagent.", path=path)
    read = [(entry, fact_from_json(entry)) for entry in entries]
    return _Document(
        tuple(fact for _, fact in read if fact is not None),
        tuple(entry for entry, fact in read if fact is None),
        form,
    )


def _replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`, whole or not at all. The lock must be held: the name aside is fixed."""
    aside = path.with_name(path.name + ".new")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)


BACKEND = BackendKind("json_file", JsonFile)
