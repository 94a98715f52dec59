"""What a child process prints: both ends in memory, and where that is not all, the whole on disk up to a bound."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

HEAD = 4_000_000
TAIL = 4_000_000
"""Bytes kept in memory at either end."""
WHOLE = 16_000_000
"""Bytes kept on disk."""
_PIECE = 1_000_000


class Spool:
    """Bytes in order of arrival. `since` knows both ends, `pieces` everything up to `whole` bytes."""

    def __init__(self, head: int = HEAD, tail: int = TAIL, whole: int = WHOLE) -> None:
        self._room, self._tail_room, self._whole_room = head, tail, whole
        self._file: int | None = None
        self._on_disk = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        if (room := self._room - len(self._head)) > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._spill(data)
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    def _spill(self, data: bytes) -> None:
        """Write on to the file, which begins with the head; a disk that refuses leaves what both ends hold."""
        with suppress(OSError):
            if self._file is None:
                file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed with this object)
                weakref.finalize(self, file.close)
                self._file = file.fileno()
                self._on_disk = os.write(self._file, self._head)
            # Only what follows on, so that after a failure nothing is missing in the middle.
            if self._on_disk == self.total - len(data) and (room := self._whole_room - self._on_disk) > 0:
                self._on_disk += os.write(self._file, data[:room])

    def pieces(self, offset: int = 0) -> Iterator[bytes]:
        """All that has come since `offset`, from disk where it is there; a line stands for what was not kept.

        What comes later is not in it, so that another thread may read it meanwhile.
        """
        if self._file is None or self._on_disk <= max(len(self._head), offset):
            return iter((self.since(offset),))
        return self._from_disk(self._file, offset, self._on_disk, self.since(self._on_disk))

    def _from_disk(self, file: int, at: int, end: int, rest: bytes) -> Iterator[bytes]:
        while at < end and (piece := os.pread(file, min(_PIECE, end - at), at)):
            at += len(piece)
            yield piece
        yield rest

    def since(self, offset: int = 0) -> bytes:
        """All bytes from `offset` on, with a line in the place of those that are gone."""
        if offset < len(self._head):
            return bytes(self._head[offset:]) + self._gap(len(self._head)) + b"".join(self._tail)
        start = self.total - self._tail_size
        if offset < start:
            return self._gap(offset) + b"".join(self._tail)
        return self._last(self.total - offset)

    def _last(self, size: int) -> bytes:
        """The newest bytes: whoever follows a flood asks for a few of them again and again."""
        pieces: list[bytes] = []
        for piece in reversed(self._tail):
            if size <= 0:
                break
            pieces.append(piece[-size:])
            size -= len(piece)
        return b"".join(reversed(pieces))

    def _gap(self, since: int) -> bytes:
        gone = self.total - self._tail_size - since
        return b"\n[... %d bytes not kept ...]\n" % gone if gone > 0 else b""
