"""The bytes of a stream to the JSON values in it: server-sent events, read tolerantly. Pure; knows no endpoint.

Comments and other fields are passed over, a blank line between events may be missing, a value may be spread over
several `data:` lines, bytes that are no UTF-8 become replacement characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

DONE: Final = object()
"""Stands for the mark by which a stream says that it is complete."""


def _decode(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8", "replace"), strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class EventReader:
    """Fed with pieces cut anywhere; gives the values they complete."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[Any]:
        """The values that end in `piece`, `DONE` among them.

        Raises:
            ValueError: an event is no JSON.
        """
        first, *lines = piece.split(b"\n")
        self._tail.append(first)
        for line in lines:
            whole = b"".join(self._tail)
            self._tail = [line]
            yield from self._line(whole.rstrip(b"\r"))

    def finish(self) -> Iterator[Any]:
        """What an unended last event holds.

        Raises:
            ValueError: it is no JSON, which is to say that it was cut.
        """
        yield from self.feed(b"\n\n")

    def _line(self, line: bytes) -> Iterator[Any]:
        if line.startswith(b"data:"):
            self._data.append(line[5:].strip())
            yield from self._event(ended=False)
        elif not line:
            yield from self._event(ended=True)
            self._data.clear()

    def _event(self, *, ended: bool) -> Iterator[Any]:
        """The value that the data lines so far make; while the event goes on, failing to means to wait for more."""
        text = b"\n".join(self._data)
        if text.startswith(b"[DONE]"):
            self._data.clear()
            yield DONE
        elif text.startswith(b"{") and (ended or text.endswith(b"}")):
            try:
                value = _decode(text)
            except ValueError:
                if ended:
                    raise
                return
            self._data.clear()
            yield value


class WholeReader:
    """The same for an endpoint that does not stream: one JSON document, which is complete when it is well-formed."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[Any]:
        self._pieces.append(piece)
        yield from ()

    def finish(self) -> Iterator[Any]:
        """The document, and `DONE`; or the events, where a stream was only called a document.

        Raises:
            ValueError: it is neither.
        """
        whole = b"".join(self._pieces).strip()
        if whole.startswith((b"{", b"[")):
            yield _decode(whole)
            yield DONE
        else:
            events = EventReader()
            yield from events.feed(whole)
            yield from events.finish()
