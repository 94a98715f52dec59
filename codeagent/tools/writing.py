"""Writing files so that a reader sees the old text or the new one, never half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_HOST = f"{zlib.crc32(os.uname().nodename.encode()):08x}"
"""Process ids say nothing of other machines that share the folder."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to hold; None takes it away."""

    path: Path
    data: bytes | None
    like: Path | None = None
    """The file whose mode bits and owner a new one takes."""


def write_atomic(path: Path, data: bytes) -> None:
    """Write aside, then rename. Mode bits and, where allowed, the owner of an existing file stay. Makes folders.

    Raises:
        OSError: it cannot be written; the old file is untouched.
    """
    write_together([Change(path, data)])


def write_together(changes: Sequence[Change]) -> None:
    """Make all changes or none; no file is in two of them. Everything is written aside first, so that only renames are
    left when the first file changes.

    Raises:
        OSError: one cannot be made; all files are as they were.
    """
    asides: dict[Path, Path] = {}
    backups: dict[Path, Path | None] = {}
    folders: list[Path] = []
    try:
        for change in changes:
            _check(change.path)
            if change.data is not None:
                folders += _make_folders(change.path.parent)
                asides[change.path] = _stage(change.path, change.data, change.like or change.path)
        for change in sorted(changes, key=lambda change: change.data is None):
            if len(changes) > 1:
                backups[change.path] = _backup(change.path) if change.path.exists() else None
            if change.data is None:
                change.path.unlink()
            else:
                asides[change.path].replace(change.path)
                del asides[change.path]
    except BaseException:
        _restore(backups)
        for aside in asides.values():
            aside.unlink(missing_ok=True)
        for folder in reversed(folders):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    for backup in backups.values():
        if backup is not None:
            backup.unlink(missing_ok=True)
    for parent in {change.path.parent for change in changes}:
        _sweep(parent)


def _check(path: Path) -> None:
    # Who may write everything still respects a file that nobody is to write.
    if path.exists() and not (os.access(path, os.W_OK) and path.stat().st_mode & _WRITABLE):
        raise PermissionError(errno.EACCES, "The file is read-only", str(path))


def _make_folders(folder: Path) -> list[Path]:
    """The folders that had to be made, the outermost first."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def _aside(path: Path) -> Path:
    return path.parent / f".codeagent-{_HOST}-{os.getpid()}-{secrets.token_hex(6)}.tmp"


def _sweep(folder: Path) -> None:
    """Take away what processes left behind in `folder` that were killed while they wrote."""
    for aside in folder.glob(f".codeagent-{_HOST}-*.tmp"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(aside.name.split("-")[2])
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                aside.unlink()


def _stage(path: Path, data: bytes, like: Path) -> Path:
    """A file beside `path` with `data` and the looks of `like`, where that exists."""
    aside = _aside(path)
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if like.exists():
                looks = like.stat()
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), looks.st_uid, looks.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(looks.st_mode))
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def _backup(path: Path) -> Path:
    backup = _aside(path)
    try:
        backup.hardlink_to(path)
    except OSError:  # a file system without links
        shutil.copy2(path, backup)
    return backup


def _restore(backups: dict[Path, Path | None]) -> None:
    for path, backup in reversed(backups.items()):
        with contextlib.suppress(OSError):
            if backup is None:
                path.unlink(missing_ok=True)
            else:
                backup.replace(path)
                backup.unlink(missing_ok=True)  # still there where both were one file
