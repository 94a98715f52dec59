"""Which files the model has seen, and in which state, so that nothing is overwritten blindly."""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

_HASHED = 4_000_000
"""Bytes up to which the contents decide when the dates differ."""
_KEPT = 1_000_000
"""Bytes of a file whose content is kept, and packed of all files together in _ALL_KEPT."""
_ALL_KEPT = 20_000_000
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
    packed: bytes = b""
    """The content, compressed; empty where it is not kept."""


class FileLedger:
    """Implements `ports.Files` over real paths."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def note(self, path: Path) -> None:
        real = os.path.realpath(path)
        known = self._seen.pop(real, None)
        try:
            stat = Path(real).stat()
            data = Path(real).read_bytes() if stat.st_size <= _HASHED else None
        except OSError:
            return
        digest = b"" if data is None else _digest(data)
        if known is not None and digest and known.digest == digest:
            packed = known.packed
        else:
            packed = zlib.compress(data, 1) if data is not None and len(data) <= _KEPT else b""
        racy = time.time_ns() - stat.st_mtime_ns < _RACY
        self._seen[real] = _Seen(stat.st_size, stat.st_mtime_ns, digest, racy, packed)
        self._forget()

    def _forget(self) -> None:
        """Let go of the contents of those noted longest ago."""
        held = sum(len(seen.packed) for seen in self._seen.values())
        for real, seen in self._seen.items():
            if held <= _ALL_KEPT:
                return
            held -= len(seen.packed)
            self._seen[real] = replace(seen, packed=b"")

    def content(self, path: Path) -> bytes | None:
        """What the model has seen of `path`, where it is still kept."""
        seen = self._seen.get(os.path.realpath(path))
        return zlib.decompress(seen.packed) if seen is not None and seen.packed else None

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
            return "current" if seen.digest and _digest(Path(real).read_bytes()) == seen.digest else "changed"
        except OSError:
            return "changed"

    def changed(self) -> list[str]:
        """Paths that are no longer on disk as the model has seen them."""
        return [path for path in self._seen if self.state(Path(path)) == "changed"]


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
