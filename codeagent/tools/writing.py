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

from codeagent.tools.holding import Folders, Place

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_HOST = f"{zlib.crc32(os.uname().nodename.encode()):08x}"
"""Process ids say nothing of other machines that share the folder."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to hold; None takes it away."""

    path: Path
    """A real path: where a link stands in it by now, nothing is written."""
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
    folders = Folders()
    try:
        _write(changes, folders)
    finally:
        folders.close()


def _write(changes: Sequence[Change], folders: Folders) -> None:
    places: dict[Path, Place] = {}
    asides: dict[Path, Place] = {}
    backups: dict[Path, Place | None] = {}
    at = Path()
    try:
        for change in changes:
            at = change.path
            place = places[change.path] = folders.place(change.path, make=change.data is not None)
            _check(place)
            if change.data is not None:
                asides[change.path] = _stage(place, change.data, change.like)
        for change in sorted(changes, key=lambda change: change.data is None):
            at, place = change.path, places[change.path]
            if len(changes) > 1:
                backups[change.path] = _backup(place) if place.state() is not None else None
            if change.data is None:
                place.unlink()
            else:
                asides[change.path].replace(place)
                del asides[change.path]
    except BaseException as error:
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(at), None  # a name alone, or a handle, tells nobody which
        _restore(places, backups)
        for aside in asides.values():
            aside.unlink(missing_ok=True)
        folders.unmake()
        raise
    for backup in backups.values():
        if backup is not None:
            backup.unlink(missing_ok=True)
    for place in {place.path.parent: place for place in places.values()}.values():
        _sweep(place)


def _check(place: Place) -> None:
    # Who may write everything still respects a file that nobody is to write.
    found = place.state()
    if found is not None and not (place.writable() and found.st_mode & _WRITABLE):
        raise PermissionError(errno.EACCES, "The file is read-only", str(place.path))


def _aside(place: Place) -> Place:
    return place.beside(f".codeagent-{_HOST}-{os.getpid()}-{secrets.token_hex(6)}.tmp")


def _sweep(place: Place) -> None:
    """Take away what processes left behind in the folder that were killed while they wrote."""
    with contextlib.suppress(OSError):
        for name in place.names():
            if name.startswith(f".codeagent-{_HOST}-") and name.endswith(".tmp"):
                _sweep_one(place.beside(name))


def _sweep_one(aside: Place) -> None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        pid = int(aside.name.split("-")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            aside.unlink()


def _stage(place: Place, data: bytes, like: Path | None) -> Place:
    """A file beside `place` with `data` and the looks of `like` or of what stands there, where that exists."""
    aside = _aside(place)
    handle = aside.create()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            looks = like.stat() if like is not None and like.exists() else place.state()
            if looks is not None:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), looks.st_uid, looks.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(looks.st_mode))
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return aside


def _backup(place: Place) -> Place:
    backup = _aside(place)
    try:
        place.link(backup)
    except OSError:  # a file system without links
        with place.open() as source, os.fdopen(backup.create(), "wb") as target:
            shutil.copyfileobj(source, target)
            looks = os.fstat(source.fileno())
            os.fchmod(target.fileno(), stat.S_IMODE(looks.st_mode))
            os.utime(target.fileno(), ns=(looks.st_atime_ns, looks.st_mtime_ns))
    return backup


def _restore(places: dict[Path, Place], backups: dict[Path, Place | None]) -> None:
    for path, backup in reversed(backups.items()):
        with contextlib.suppress(OSError):
            if backup is None:
                places[path].unlink(missing_ok=True)
            else:
                backup.replace(places[path])
                backup.unlink(missing_ok=True)  # still there where both were one file
