"""Which files the model has seen, and in which state, so that nothing is overwritten blindly."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_HASHED = 4_000_000
"""Bytes up to which the contents decide when the dates differ."""
_RACY = 50_000_000
"""Nanoseconds in which two writes may carry the same date."""


@dataclass(frozen=True, slots=True)
class _Seen:
    size: int
    mtime: int
    digest: bytes
    """Empty for large files."""
    racy: bool
    """It was noted so soon after its last change that an equal date proves nothing."""


class FileLedger:
    """Implements `ports.Files` over real paths."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def note(self, path: Path) -> None:
        real = os.path.realpath(path)
        try:
            stat = Path(real).stat()
            digest = _digest(real) if stat.st_size <= _HASHED else b""
        except OSError:
            self._seen.pop(real, None)
            return
        self._seen[real] = _Seen(stat.st_size, stat.st_mtime_ns, digest, time.time_ns() - stat.st_mtime_ns < _RACY)

    def state(self, path: Path) -> Literal["unread", "changed", "current"]:
        real = os.path.realpath(path)
        seen = self._seen.get(real)
        if seen is None:
            return "unread"
        try:
            stat = Path(real).stat()
            if stat.st_size != seen.size:
                return "changed"
            if stat.st_mtime_ns == seen.mtime and not (seen.racy and seen.digest):
                return "current"
            return "current" if seen.digest and _digest(real) == seen.digest else "changed"
        except OSError:
            return "changed"

    def changed(self) -> list[str]:
        """Paths that are no longer on disk as the model has seen them."""
        return [path for path in self._seen if self.state(Path(path)) == "changed"]


def _digest(path: str) -> bytes:
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).digest()
