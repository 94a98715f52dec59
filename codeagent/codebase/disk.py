"""Files as they are on disk: which there are, which have changed, and which are worth reading."""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LARGEST = 1_000_000
"""Bytes of a file that is read; larger ones are data, or made by a program."""
_DATA = frozenset({".csv", ".geojson", ".ipynb", ".json", ".jsonl", ".po", ".sql", ".svg", ".tsv", ".xml"})
"""Endings of what is data once it is long."""
LARGEST_DATA = 100_000
_GENERATED = re.compile(r"(\.min\.\w+|\.map|\.lock|-lock\.(json|ya?ml)|\.lockb|go\.sum)$")
_WIDE = 400
"""Bytes of a line, in the mean of a file, that nobody writes by hand."""
_NOW = 2_000_000_000
"""Nanoseconds: a file changed so shortly before it was read may change again within the same time stamp."""

AGAIN = -1
"""In place of a time stamp: the file is to be looked at again."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it is on disk."""

    path: str
    """Relative to its root."""
    size: int
    modified: int
    """When its content or its rights changed, in nanoseconds, or `AGAIN`; copies that keep the time of what they are
    made from do not keep this one."""


def look(root: Path, path: str) -> Seen | None:
    """A regular file as it is now; None for anything else, for links, and for what is gone."""
    try:
        about = os.lstat(os.path.join(root, path))  # noqa: PTH118 (called for every file at every search)
        path.encode()  # names that are no text cannot be asked for
    except (OSError, ValueError):
        return None
    return Seen(path, about.st_size, about.st_ctime_ns) if stat.S_ISREG(about.st_mode) else None


def read(root: Path, seen: Seen) -> tuple[Seen, bytes, str]:
    """(file as it was read, its bytes, why it is left out or "")."""
    suffix = PurePosixPath(seen.path).suffix.lower()
    if seen.size > LARGEST or (suffix in _DATA and seen.size > LARGEST_DATA):
        return seen, b"", "large"
    if _GENERATED.search(seen.path.lower()):
        return seen, b"", "generated"
    try:
        descriptor = os.open(root / seen.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            data = file.read(LARGEST + 1) if stat.S_ISREG(about.st_mode) else b""
    except OSError:
        return seen, b"", "unreadable"
    # Read within the grain of its time stamp: a later change might not show in it, so it is looked at again.
    fresh = time.time_ns() - about.st_mtime_ns < _NOW
    now = Seen(seen.path, about.st_size, AGAIN if fresh else about.st_ctime_ns)
    if len(data) > LARGEST:
        return now, b"", "large"
    if len(data) > 20 * _WIDE and len(data) > _WIDE * (data.count(b"\n") + data.count(b"\r") + 1) and b"\0" not in data:
        return now, b"", "generated"
    return now, data, ""
