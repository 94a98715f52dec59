"""A lock between processes that dies with its holder."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codeagent.core.errors import StoreError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PATIENCE = 10.0
"""Seconds to wait for another process, which needs milliseconds."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that `path` stands for, waiting for another holder.

    Raises:
        StoreError: another process has held it for too long.
        OSError: the lock file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not (_take(descriptor) or _wait(descriptor)):
            raise StoreError("Another process is holding {path}.", hint="Try again in a moment.", path=path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Lock it now, if nobody holds it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _wait(descriptor: int) -> bool:
    """Lock it once it is free; False when patience has run out.

    Where the kernel keeps a queue we stand in it: whoever looks in now and then starves beside a busy writer. The wait
    is a thread's; when we leave and close the file, the lock it may still get is let go with the file.
    """
    if sys.platform == "win32":
        end = time.monotonic() + _PATIENCE
        while not (got := _take(descriptor)) and time.monotonic() < end:
            time.sleep(0.005)
        return got
    done = threading.Event()
    threading.Thread(target=_queue, args=(descriptor, done), daemon=True).start()
    return done.wait(_PATIENCE)


def _queue(descriptor: int, done: threading.Event) -> None:
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    done.set()
