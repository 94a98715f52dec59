"""Writing a file so that a reader sees the old text or the new one, never half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path


def write_atomic(path: Path, data: bytes) -> None:
    """Write aside, then rename. Mode bits and, where allowed, the owner of an existing file stay. Makes folders.

    Raises:
        OSError: it cannot be written; the old file is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.stat() if path.exists() else None
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "The file is read-only", str(path))
    aside = path.parent / f".codeagent-{secrets.token_hex(6)}.tmp"
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if old is not None:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
