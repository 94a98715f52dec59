"""The files of task memory: read as a person left them, written whole, by one program at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Literal, Protocol

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.paths import Home, Project
from codeagent.memory import board
from codeagent.memory.decoding import decode
from codeagent.memory.digest import ROOM, Texts, overlong
from codeagent.memory.folder import put, ready, within
from codeagent.memory.guard import Change, Guard
from codeagent.memory.kept import Kept

Name = Literal["tattoo", "snapshot", "notes"]
NAMES: tuple[Name, ...] = ("tattoo", "snapshot", "notes")
READ = 256 * 1024
"""Bytes of a file that are read; a longer one is never written to."""
_HEADERS: dict[Name, str] = {
    "tattoo": """\
<!-- Hard constraints, one a line: what would have to be rolled back if it were broken. The model has all of them
before it at all times, and adds one only when you say yes. Keep them few. -->
""",
    "snapshot": """\
<!-- Where the task stands, in phases. The model keeps it, and reads it when its context was lost; edit it as you like.
It knows the headings Goal, Done, In progress, Open, Key decisions; what stands under others is left alone. -->
""",
    "notes": """\
<!-- Scratch, the model's and yours; it may be stale. The last five notes are before the model at all times. -->
""",
}


class Hold(Protocol):
    """A lock that is held."""

    def release(self) -> None: ...


Take = Callable[[Path], Hold | int]
"""Locks a path: the lock, or the number of the process that has it (0 when unknown). Raises OSError."""


class TaskFiles:
    """Tattoo, snapshot and notes of a project, and the tattoo of the user."""

    def __init__(self, home: Home, project: Project, take: Take, *, room: int = ROOM) -> None:
        """`room`: tokens that hard constraints may take."""
        self._home = home
        self._user = home.tattoo
        self._project = project
        self.room = room
        self._take = take
        self._lock: Hold | None = None
        self._holder: int | None = None
        self._texts = Texts()
        self._notices: list[Notice] = []
        self._told: set[str] = set()
        own = self.path("tattoo")
        reads: Callable[[Path], bool] = lambda path: path != own or within(own, project.top)  # noqa: E731
        self.guard = Guard((self._user, own), reads, Kept(home.guarded))

    @property
    def folder(self) -> Path:
        return self._project.folder / "memory"

    def path(self, name: Name) -> Path:
        return self.folder / f"{name}.md"

    def read(self) -> Texts:
        """All texts as they are now; a file that cannot be read keeps what was read of it last."""
        self._hold()
        self.guard.recall()
        kept = self._texts
        tattoo, snapshot, notes = (self._read(self.path(name), getattr(kept, name), own=True) for name in NAMES)
        shared = os.path.realpath(self._user) == os.path.realpath(self.path("tattoo"))
        user = "" if shared else self._read(self._user, kept.user, own=False)
        self._texts = Texts(user, tattoo, snapshot, notes)
        for path, text in ((self._user, user), (self.path("tattoo"), tattoo)):
            for message, arguments in overlong(text, self.room):
                self._tell(message, path, **arguments)
        return self._texts

    def base(self, name: Name) -> str:
        """What an edit begins with: the text as it was read, or for an empty file the header that explains it."""
        text: str = getattr(self._texts, name)
        return text if text.strip() else f"{_HEADERS[name]}\n"

    def blank(self, name: Name) -> str:
        """A file that says nothing yet: its header, and for the snapshot its headings."""
        headings = "\n".join(f"## {english}\n" for english, _ in board.HEADINGS.values())
        return f"{_HEADERS[name]}\n{headings if name == 'snapshot' else ''}"

    def write(self, name: Name, text: str) -> int:
        """Put `text` in the place of a file; the bytes it had before.

        Raises:
            StoreError: another program writes here, the file is not ours to write, or the disk refuses.
        """
        path = self.path(name)
        try:
            self._demand_inside(path)
            self._prepare(self.folder)
            before = self._writable(path)
            data = text.replace("\n", "\r\n") if b"\r\n" in before else text
            put(path, data.encode("utf-8", "replace"))
        except OSError as error:
            raise _refused(path, error) from error
        if name == "tattoo":
            self.guard.accept(path)
        return len(before)

    def held(self, name: Name) -> bytes | None:
        """What a file holds now, for somebody who is about to write; None where there is none. Raises StoreError."""
        path = self.path(name)
        try:
            self._demand_inside(path)
            self._prepare(self.folder)
            return self._writable(path) if os.path.lexists(path) else None
        except OSError as error:
            raise _refused(path, error) from error

    def restore(self, name: Name, data: bytes | None) -> None:
        """Make a file exactly `data`, or take it away. Raises StoreError."""
        path = self.path(name)
        try:
            if data is None:
                path.unlink(missing_ok=True)
            else:
                put(path, data)
        except OSError as error:
            raise _refused(path, error) from error
        if name == "tattoo":
            self.guard.accept(path)

    def shelve(self, path: Path, data: bytes, at: datetime) -> Path:
        """Keep what a file held in `archive/` beside it, which is never injected. Raises StoreError."""
        shelf = path.parent / "archive"
        stem = f"{path.stem}_{at.astimezone():%Y%m%d_%H%M%S}"
        names = chain((f"{stem}.md",), (f"{stem}_{number}.md" for number in count(2)))
        kept = next(place for place in map(shelf.joinpath, names) if not place.exists())
        try:
            if path != self._user:
                self._demand_inside(kept)
                ready(self._project.folder)
            shelf.mkdir(parents=True, exist_ok=True)
            put(kept, data)
        except OSError as error:
            raise _refused(kept, error) from error
        return kept

    def put_back(self, change: Change) -> None:
        """Make a tattoo what it was before a change that nobody wanted. Raises StoreError."""
        try:
            mine = change.path == self._user
            self.guard.put_back(change, self._home.root if mine else self._project.top)
            if not mine and change.before.data is not None:
                ready(self._project.folder)
        except OSError as error:
            raise _refused(change.path, error) from error

    def exists(self, name: Name) -> bool:
        return os.path.lexists(self.path(name))

    def modified(self, name: Name) -> float | None:
        """Seconds since 1970; None where there is no file."""
        try:
            return self.path(name).stat().st_mtime
        except OSError:
            return None

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, each told once."""
        news = tuple(self._notices)
        self._notices.clear()
        return news

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _read(self, path: Path, kept: str, *, own: bool) -> str:
        newest = path == self.path("notes")  # its last lines are the ones that are sent
        try:
            if (watched := self.guard.kept(path)) is not None:
                data = (watched.data or b"")[: READ + 1]
            elif own and not within(path, self._project.top):
                self._tell("{path} leads out of the project and is not read.", path)
                return ""
            else:
                _demand_regular(path)
                data = _ending(path) if newest else _beginning(path)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            self._tell("{path} cannot be read: {reason}.", path, reason=error.strerror or error)
            return kept
        text = decode(data[-READ:].partition(b"\n")[2] if newest and len(data) > READ else data[:READ])
        if text is None:
            self._tell("{path} is not text and is left out.", path)
            return ""
        if len(data) > READ:
            told = "{path} is too long: only its {which} {size} kB are read."
            self._tell(told, path, which="last" if newest else "first", size=READ // 1024)
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _prepare(self, folder: Path) -> None:
        """Make the folder and hold the lock."""
        ready(self._project.folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._hold()
        if self._holder is not None:
            raise StoreError(
                "Another codeagent{process} works in this project: nothing was written to its task memory.",
                process=f" (process {self._holder})" if self._holder else "",
            )

    def _demand_inside(self, path: Path) -> None:
        if not within(path, self._project.top):
            raise StoreError("{path} leads out of the project and is left alone.", path=path)

    def _writable(self, path: Path) -> bytes:
        """What the file holds; StoreError where a person would not have it written over."""
        if not path.exists():
            return b""
        _demand_regular(path)
        if not path.stat().st_mode & 0o222:
            raise StoreError("{path} is read-only and is left alone.", path=path)
        data = path.read_bytes()
        if decode(data) is None:
            raise StoreError("{path} is not text and is left alone.", path=path)
        if len(data) > READ:
            raise StoreError("{path} is too long and is left alone: shorten it.", path=path)
        return data

    def _hold(self) -> None:
        """Take the lock if it is free: it falls open when its holder dies, however it dies."""
        if self._lock is not None or not self.folder.is_dir() or not within(self.folder, self._project.top):
            return
        try:
            got = self._take(self.folder / "task.lock")
        except OSError:  # a read-only disk, or one that knows no locks
            return
        if isinstance(got, int):
            if self._holder is None:
                process = f" (process {got})" if got else ""
                told = "Another codeagent{process} works in this project: its task memory is read, not written."
                self._notices.append(Notice(told, {"process": process}, "warning"))
            self._holder = got
            return
        if self._holder is not None:
            self._notices.append(Notice("The other codeagent is gone: task memory is written again."))
        self._lock, self._holder = got, None

    def _tell(self, message: str, path: Path, **arguments: object) -> None:
        notice = Notice(message, {"path": str(path), **arguments}, "warning")
        if str(notice) not in self._told:
            self._told.add(str(notice))
            self._notices.append(notice)


def _beginning(path: Path) -> bytes:
    """What is read of a file; a byte more tells that it is longer."""
    with path.open("rb") as file:
        return file.read(READ + 1)


def _ending(path: Path) -> bytes:
    """The same, of its end."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - READ - 1))
        return file.read(READ + 1)


def _demand_regular(path: Path) -> None:
    """Raises OSError for a pipe or a device, whose end may never come."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error)
