"""What a child process prints: kept whole up to a bound, then its beginning and its newest part."""

from __future__ import annotations

from collections import deque

HEAD = 4_000_000
TAIL = 4_000_000
"""Bytes kept at either end."""


class Spool:
    """Bytes in order of arrival; the middle of very long output is forgotten."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._room, self._tail_room = head, tail
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
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    def since(self, offset: int = 0) -> bytes:
        """All bytes from `offset` on, with a line in the place of those that are gone."""
        if offset < len(self._head):
            return bytes(self._head[offset:]) + self._gap(len(self._head)) + b"".join(self._tail)
        tail = b"".join(self._tail)
        start = self.total - self._tail_size
        return self._gap(offset) + tail if offset < start else tail[offset - start :]

    def _gap(self, since: int) -> bytes:
        gone = self.total - self._tail_size - since
        return b"\n[... %d bytes not kept ...]\n" % gone if gone > 0 else b""
