"""Read session files as they stand: their lines, and what these lines tell. Nothing is changed, no lock is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from codeagent.core.errors import StoreError
from codeagent.core.messages import PLAIN, WireShape
from codeagent.core.ports import Estimate
from codeagent.core.tokens import estimate_classes
from codeagent.history.replay import Replay, replay

_BLOCK = 1 << 16


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
