"""A lock between processes that dies with its holder."""

from __future__ import annotations

import os
import sys
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
_PAUSE = 0.005


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that `path` stands for, waiting for another holder.

    Raises:
        StoreError: another process has held it for too long.
        OSError: the lock file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _PATIENCE
        while not _try(descriptor):
            if time.monotonic() > end:
                raise StoreError("Another process is holding {path}.", hint="Try again in a moment.", path=path)
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
