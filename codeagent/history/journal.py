"""The session file: one line a record, only ever appended to, held by one process."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from codeagent.core.errors import SessionBusy, SessionError, SessionNotFound, StoreError
from codeagent.core.private import make_private
from codeagent.history.lock import Held, Lock
from codeagent.history.reading import end_of_lines
from codeagent.history.records import line, stamp

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Journal:
    """Appends records; numbers and dates them.

    A new one makes its file, 0600 in folders of 0700, at the first `write`; what was given to `hold` before stands
    in front. So a session in which nothing was said leaves no file.
    """

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self.path = path
        self.seq = 0
        """Of the newest line."""
        self.size = 0
        self._now = now
        self._held = b""
        self._lock: Lock | None = None
        self._descriptor: int | None = None
        self._synced = 0
        self._closed = False

    @classmethod
    def open(cls, path: Path, now: Callable[[], float] = time.time) -> Journal:
        """Take an existing file; the caller sets `seq`, which only the lines tell.

        Raises:
            SessionNotFound, SessionBusy, StoreError
        """
        if not path.is_file():
            raise SessionNotFound("There is no session {id}.", id=path.stem)
        journal = cls(path, now)
        journal._open(0)
        return journal

    def cut_torn(self) -> int:
        """Cut an unfinished last line off the file; its length in bytes, 0 when there is none.

        Raises:
            StoreError
        """
        assert self._descriptor is not None
        try:
            whole = end_of_lines(self._descriptor, self.size)
            torn = self.size - whole
            if torn:
                os.ftruncate(self._descriptor, whole)
                self.size = whole
        except OSError as error:
            raise self._refused(error) from error
        return torn

    def hold(self, body: bytes, at: float | None = None) -> None:
        """A record that is no reason to make the file: written at once when there is one, else before the first.

        Args:
            at: its time, if not this moment.
        """
        if self._descriptor is None:
            self._held += self._line(body, at)
            self.seq += 1
        else:
            self.write(body)

    def write(self, body: bytes) -> None:
        """Hand one record to the kernel in one write; on return it outlives this process.

        Raises:
            StoreError: the disk refuses; the file is as it was before.
            SessionBusy, SessionError: the file of a new session cannot be made its own.
        """
        if self._closed:
            raise ValueError("the journal is closed")
        data = self._held + self._line(body)
        if self._descriptor is None:
            self._open(os.O_CREAT | os.O_EXCL)
        self._append(data)
        self._held = b""
        self.seq += 1

    async def sync(self) -> None:
        """Have the disk itself keep what was written (fsync in a thread)."""
        if self._descriptor is None or self._synced == self.size:
            return
        size, fresh = self.size, self._synced == 0
        descriptor = os.dup(self._descriptor)
        try:
            await asyncio.to_thread(_fsync, descriptor, self.path.parent if fresh else None)
        except OSError as error:
            raise self._refused(error) from error
        finally:
            os.close(descriptor)
        self._synced = max(size, self._synced)

    def close(self) -> None:
        self._closed = True
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            if self.size == 0:  # The disk refused all that was to be written.
                self.path.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _line(self, body: bytes, at: float | None = None) -> bytes:
        if b"\n" in body:
            raise ValueError("a record is one line")
        return line(self.seq + 1, stamp(self._now() if at is None else at), body)

    def _open(self, flags: int) -> None:
        try:
            make_private(self.path.parent)
            self._lock = take_lock(self.path)
            if flags & os.O_EXCL and self.path.exists():
                raise SessionError("There is a session {id} already.", id=self.path.stem)
            self._descriptor = os.open(self.path, _FLAGS | flags, 0o600)
        except OSError as error:
            self._unlock()
            raise self._refused(error) from error
        except SessionError:
            self._unlock()
            raise
        self.size = os.fstat(self._descriptor).st_size

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _append(self, data: bytes) -> None:
        assert self._descriptor is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            os.ftruncate(self._descriptor, self.size)
            raise self._refused(error) from error
        self.size += len(data)

    def _refused(self, error: OSError) -> StoreError:
        return StoreError("{path} cannot be written: {reason}.", path=self.path, reason=error.strerror or str(error))


def take_lock(path: Path) -> Lock | None:
    """The lock of the session file `path`; None where the file system knows no locks.

    Raises:
        SessionBusy: another process works in this session.
    """
    file = path.with_suffix(".lock")
    try:
        return Lock(file)
    except Held as held:
        if held.pid is None:
            raise SessionBusy("Session {id} is in use; --fork-session resumes a copy of it.", id=path.stem) from None
        raise SessionBusy(
            "Session {id} is in use by process {pid}; --fork-session resumes a copy of it.", id=path.stem, pid=held.pid
        ) from None
    except PermissionError:
        raise
    except OSError:
        if not file.exists():
            raise
        return None


def _fsync(descriptor: int, folder: Path | None) -> None:
    os.fsync(descriptor)
    if folder is not None and os.name == "posix":
        above = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(above)
        finally:
            os.close(above)
