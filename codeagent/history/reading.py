"""Read session files as they stand: their lines, and what these lines tell. Nothing is changed, no lock is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Literal

from codeagent.core.errors import SessionTooNew, StoreError
from codeagent.core.messages import PLAIN, AssistantMessage, ToolCall, WireShape
from codeagent.core.ports import Estimate
from codeagent.core.tokens import estimate_classes
from codeagent.history import records
from codeagent.history.replay import Replay, replay

_BLOCK = 1 << 16
_HEAD = 120
"""Bytes of a line in which its type stands."""
Step = ToolCall | Literal["compaction", "clear"]
"""What `read_calls` tells."""


def read_state(
    path: Path, shape: WireShape = PLAIN, estimate: Estimate = estimate_classes, further: bytes | None = None
) -> Replay:
    """Replay a session file, whoever may be writing to it; blocks for as long as reading it takes.

    Args:
        further: a line that is to be taken as if it stood at the end.

    Raises:
        SessionTooNew, StoreError
    """
    more = [(-1, further)] if further is not None else []
    try:
        with path.open("rb") as file, path.open("rb") as again:

            def read(offset: int) -> bytes:
                again.seek(offset)
                return again.readline()

            return replay(chain(read_lines(file), more), read, shape, estimate)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("{path} cannot be read: {reason}.", path=path, reason=reason) from error


def read_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(offset, line with its newline) of every whole line; a torn last one is left out."""
    offset = 0
    for data in file:
        if data.endswith(b"\n"):
            yield offset, data
        offset += len(data)


def read_checkpoints(path: Path) -> list[dict[str, Any]]:
    """The fields of all checkpoint records of a session, oldest first; none of a file that is not there.

    Raises:
        StoreError: it cannot be read.
    """
    found = []
    try:
        with path.open("rb") as file:
            for _, data in read_lines(file):
                with suppress(*records.UNREADABLE, SessionTooNew):
                    if b'"checkpoint"' in data[:_HEAD] and records.head_of(data).type == "checkpoint":
                        found.append(records.parse(data))
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("{path} cannot be read: {reason}.", path=path, reason=reason) from error
    return found


def read_calls(path: Path, end: int) -> Iterator[Step]:
    """The tool calls of a session up to the byte `end` of its file, in order, and what parts them. None of a file that
    cannot be read.
    """
    try:
        with path.open("rb") as file:
            for offset, data in read_lines(file):
                if offset >= end:
                    return
                try:
                    yield from _calls(data)
                except (*records.UNREADABLE, SessionTooNew):
                    continue
    except OSError:
        return


def _calls(data: bytes) -> Iterator[Step]:
    kind = records.head_of(data).type
    if kind == "compaction":
        yield "compaction"
    elif kind == "prompt" and records.parse(data).get("reason") == "clear":
        yield "clear"
    elif kind == "message" and b'"tool_calls":[' in data:
        message = records.read_entry(records.parse(data), lambda message: b"", len).message
        yield from message.calls if isinstance(message, AssistantMessage) else ()


def end_of_lines(descriptor: int, size: int) -> int:
    """Offset behind the last newline of a file of `size` bytes."""
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(descriptor, start, os.SEEK_SET)
        found = os.read(descriptor, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
