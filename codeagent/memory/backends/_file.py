"""What backends over one file share: the lock, the backup, and a damaged file that is set aside, never overwritten."""

from __future__ import annotations

import contextlib
import gc
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, Literal, TypeVar

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.private import make_private
from codeagent.memory.backends._lock import locked
from codeagent.memory.entry import Change, Fact

D = TypeVar("D")
"""What was read from the file."""


class FileBackend(ABC, Generic[D]):
    """A backend over one file, which may be a symbolic link.

    A change takes the lock, reads the file anew, keeps it as `.bak`, and writes. A file that cannot be understood is
    set aside, and its backup takes its place; a damaged backup goes aside too.
    """

    companions: tuple[str, ...] = ()
    """Endings of files that belong to the file and go where it goes."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        self.backup = self.path.with_name(self.path.name + ".bak")
        self._lock = self.path.with_name(self.path.name + ".lock")
        self._seen: object = None
        self._held: D | None = None
        self._notices: dict[str, Notice] = {}
        self._told: set[str] = set()

    # ---- what a make of file does ----------------------------------------------------------------------------------

    @abstractmethod
    def read(self, path: Path) -> D:
        """What is in the file at `path`; nothing when it is missing.

        Raises:
            ValueError: it is damaged.
            StoreError: a newer version wrote it, or another program holds it.
        """

    @abstractmethod
    def nothing(self) -> D:
        """What a file without facts holds."""

    @abstractmethod
    def facts(self, held: D) -> tuple[Fact, ...]: ...

    @abstractmethod
    def write(self, held: D, facts: tuple[Fact, ...]) -> D:
        """Store `facts` in the place of what was `held`. The lock is held; raises OSError, StoreError."""

    @abstractmethod
    def state(self) -> object:
        """Differs after every change of the file, whoever made it; None when there is no file."""

    # ---- what all do -----------------------------------------------------------------------------------------------

    def load(self) -> Sequence[Fact]:
        """All facts, in the order they were added; what is wrong with the file stands in `notices`."""
        state = self.state()
        try:
            self._held = self._current()
            self._seen = state
            return self.facts(self._held)
        except ValueError:
            return self.facts(self._mended())
        except (StoreError, OSError) as error:
            reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            self._notice("The memory file cannot be read: {error}", level="error", error=reason)
            return ()

    def update(self, change: Change) -> None:
        """Store `change(facts)` under the lock.

        Raises:
            StoreError: the file cannot be read, locked or written, or is of a newer version; nothing has changed.
        """
        try:
            make_private(self.path.parent)
            with locked(self._lock):
                held = self._read_or_restore()
                before = self.facts(held)
                after = tuple(change(before))
                if after != before:
                    held = self.write(held, after)
                self._held, self._seen = held, self.state()
        except OSError as error:
            raise StoreError(
                "The memory file {path} cannot be written: {error}.", path=self.path, error=error
            ) from error

    def notices(self) -> tuple[Notice, ...]:
        """What has become known since the last call; the same is never told twice."""
        news = tuple(self._notices.values())
        self._told.update(self._notices)
        self._notices.clear()
        return news

    def _current(self) -> D:
        """The file as it is, read where it has changed."""
        if self._held is not None and self._seen is not None and self.state() == self._seen:
            return self._held
        # Ten thousand facts are many new objects and no garbage: looking for some takes a third of the time.
        collecting = gc.isenabled()
        gc.disable()
        try:
            if self.path.exists() and not self.path.is_file():
                raise StoreError("{path} is not a regular file.", path=self.path)
            return self.read(self.path)
        finally:
            if collecting:
                gc.enable()

    def _mended(self) -> D:
        """The file cannot be understood: set it aside, unless another process has done so meanwhile."""
        try:
            with locked(self._lock):
                return self._read_or_restore()
        except (StoreError, OSError) as error:
            self._notice("The memory file is damaged and cannot be set aside: {error}", error=str(error))
            return self._from_backup()

    def _read_or_restore(self) -> D:
        """The file as it is; a damaged one is set aside and its backup takes its place. The lock must be held."""
        try:
            return self._current()
        except ValueError:
            aside = self._set_aside(self.path)
        try:
            found = self.backup.exists()
            held = self.read(self.backup)
        except ValueError:
            return self._without_both(aside)
        except (StoreError, OSError):
            found, held = False, self.nothing()
        if not found:
            self._notice(
                "The memory file was damaged: it was set aside as {aside}. No backup can be used: no facts are left.",
                aside=str(aside),
            )
            return held
        if self.facts(held):
            put(self.path, self.backup.read_bytes())
        count = sum(fact.forgotten is None for fact in self.facts(held))
        told = "the backup ({count} fact) is used" if count == 1 else "the backup ({count} facts) is used"
        self._notice(
            f"The memory file was damaged: it was set aside as {{aside}}, {told} instead.",
            aside=str(aside),
            count=count,
        )
        return held

    def _without_both(self, aside: Path) -> D:
        """The backup is damaged too: it goes aside as the file did, and memory begins anew."""
        self._notice(
            "The memory file and its backup were damaged: they were set aside as {aside} and {backup}. "
            "No facts are left.",
            aside=str(aside),
            backup=str(self._set_aside(self.backup)),
        )
        return self.nothing()

    def _set_aside(self, path: Path) -> Path:
        """Give the file, and what belongs to it, a name that is free."""
        aside = _free_name(path)
        for ending in ("", *self.companions):
            with contextlib.suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
        return aside

    def _from_backup(self) -> D:
        try:
            return self.read(self.backup)
        except (ValueError, StoreError, OSError):
            return self.nothing()

    def _notice(self, message: str, level: Literal["warning", "error"] = "warning", **arguments: object) -> None:
        notice = Notice(message, arguments, level)
        if str(notice) not in self._told:
            self._notices[str(notice)] = notice


def _free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return aside


def put(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`, whole or not at all. The lock must be held: the name aside is fixed."""
    aside = path.with_name(path.name + ".new")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:  # a full disk: what was written of it is of no use, and takes room
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


def keep(backup: Path, path: Path) -> None:
    """Let `backup` be the file at `path` as it is now, which is only ever replaced. The lock must be held."""
    aside = backup.with_name(backup.name + ".new")
    aside.unlink(missing_ok=True)
    try:
        # No copy: the file gets a second name, and what replaces it takes the first one away.
        os.link(path, aside)
        aside.chmod(0o600)
        aside.replace(backup)
    except OSError:  # a file system without links
        aside.unlink(missing_ok=True)
        put(backup, path.read_bytes())
    aside.unlink(missing_ok=True)  # it stays where the backup was that very file already
