"""A lock file that one process holds and that falls open when the process dies, however it dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        """Lock a byte far behind the text, so that others can still read who holds it."""
        os.lseek(descriptor, 1 << 30, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Held(Exception):
    """Another process, or another opener in this one, holds the lock; `pid` when it could be read."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(pid)
        self.pid = pid


class Lock:
    """Held from its making on.

    Raises:
        Held: it is taken.
        OSError: the file cannot be made, or the file system knows no locks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = self._take()
        with suppress(OSError):  # On a full disk nobody learns the number; the lock holds all the same.
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode())

    def _take(self) -> int:
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(descriptor)
                # Whoever held it may have removed the file between our opening and locking it.
                if self._is_ours(descriptor):
                    return descriptor
            except BlockingIOError:
                held = Held(_pid(descriptor))
                os.close(descriptor)
                raise held from None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _is_ours(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Open it and take the file away."""
        with suppress(OSError):  # Windows removes no open file; an unlocked one left over does no harm.
            self.path.unlink()
        os.close(self._descriptor)


def _pid(descriptor: int) -> int | None:
    text = os.read(descriptor, 32)
    return int(text) if text.isdigit() else None
