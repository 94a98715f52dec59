"""Which messages the next request carries, told from the numbers of the messages alone.

A session file may be far larger than memory. While its lines pass by, only 40 bytes are kept of each message (number,
place in the file), so that even an `undo` that reaches far back is answered without the messages themselves.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codeagent.history.folding import fold


class Slot(NamedTuple):
    """Where a message of the list is to be read."""

    number: int
    offset: int
    line: int
    place: int
    """Index among the messages of the compaction record at `offset`; -1 for a message record."""


@dataclass(frozen=True, slots=True)
class _Fold:
    id: str
    replacements: tuple[tuple[int, tuple[int, ...]], ...]
    """(index of the new message, numbers of what it stands for)."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """The list ends before this message; before everything when 0."""

    number: int


class Timeline:
    """The list as it grows, is folded, cleared, rewound; what it was is worked out anew when something is undone."""

    def __init__(self) -> None:
        self._numbers, self._offsets, self._lines, self._places = (array("q") for _ in range(4))
        self._live: list[int] = []
        self._log = array("q")
        self._steps: list[_Fold | _Cut] = []

    def append(self, number: int, offset: int, line: int) -> None:
        self._do(self._message(number, offset, line, -1))

    def fold(self, id: str, replacements: Sequence[tuple[int, Sequence[int]]], offset: int, line: int) -> None:
        """`replacements`: (number of the new message, numbers of those it stands for)."""
        new = tuple(
            (self._message(number, offset, line, place), tuple(of)) for place, (number, of) in enumerate(replacements)
        )
        self._do(self._step(_Fold(id, new)))

    def clear(self) -> None:
        self._do(self._step(_Cut(0)))

    def unfold(self, id: str) -> bool:
        """As if that compaction had not been; False when there is none, or when one after it is in force."""
        if self.newest_fold() != id:
            return False
        position = next(at for at in range(len(self._log) - 1, -1, -1) if self._is_fold(self._log[at]))
        del self._log[position]
        self._retell()
        return True

    def rewind(self, number: int) -> bool:
        """End the list before a message; where it has left the list, go back to before it was said."""
        if any(self._numbers[index] == number for index in self._live):
            self._do(self._step(_Cut(number)))
            return True
        for position, entry in enumerate(self._log):
            if entry >= 0 and self._numbers[entry] == number:
                del self._log[position:]
                self._retell()
                return True
        return False

    def newest_fold(self) -> str | None:
        """Id of the newest compaction since the list was last cleared."""
        for entry in reversed(self._log):
            step = self._steps[-entry - 1] if entry < 0 else None
            if isinstance(step, _Fold):
                return step.id
            if step == _Cut(0):
                return None
        return None

    def slots(self) -> list[Slot]:
        """The list, in order."""
        return [
            Slot(self._numbers[index], self._offsets[index], self._lines[index], self._places[index])
            for index in self._live
        ]

    def _message(self, number: int, offset: int, line: int, place: int) -> int:
        self._numbers.append(number)
        self._offsets.append(offset)
        self._lines.append(line)
        self._places.append(place)
        return len(self._numbers) - 1

    def _step(self, step: _Fold | _Cut) -> int:
        """The log holds indices of messages, and below zero, steps."""
        self._steps.append(step)
        return -len(self._steps)

    def _is_fold(self, entry: int) -> bool:
        return entry < 0 and isinstance(self._steps[-entry - 1], _Fold)

    def _do(self, entry: int) -> None:
        self._log.append(entry)
        self._apply(entry)

    def _retell(self) -> None:
        self._live = []
        for entry in self._log:
            self._apply(entry)

    def _apply(self, entry: int) -> None:
        if entry >= 0:
            self._live.append(entry)
            return
        match self._steps[-entry - 1]:
            case _Fold(_, replacements):
                self._live = fold(self._live, self._numbers.__getitem__, replacements)
            case _Cut(0):
                self._live = []
            case _Cut(number):
                ends = (at for at, index in enumerate(self._live) if self._numbers[index] == number)
                self._live = self._live[: next(ends, len(self._live))]
