"""Over-compression shows in behaviour: files are read and commands run that were read and run before (MEMORY.md 4.1).

A repeat is the same command line, or the same range of the same file, once more with nothing edited in between.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.messages import ToolCall

_READ, _RUN = "read_file", "shell"
_CHANGING = frozenset({"edit_file", "write_file", "apply_patch"})
_LOST = 3
"""So many repeats of what was done before a compaction, and the model is reminded."""
_LINES = 2_000

_Deed = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """Reads and commands, and how many of them were repeats."""

    deeds: int = 0
    repeats: int = 0

    def plus(self, *, repeat: bool) -> Tally:
        return Tally(self.deeds + 1, self.repeats + repeat)


class Repeats:
    """Counts as calls are made and the history is compacted."""

    def __init__(self, cwd: str) -> None:
        """`cwd` is where relative paths begin."""
        self.before = Tally()
        """Up to the first compaction."""
        self.after = Tally()
        """Since then."""
        self._cwd = cwd
        self._compactions = 0
        self._since = Tally()
        """Since the newest compaction."""
        self._lost = 0
        """Repeats since then of what was done before it."""
        self._reminded = False
        self._done: dict[_Deed, int] = {}
        """What was done, with the number of compactions there had been by then."""

    def take(self, call: ToolCall) -> None:
        """A call was made."""
        given = _arguments(call)
        if call.name in _CHANGING:
            self._changed(given.get("path"))
        elif (deed := self._deed(call.name, given)) is not None:
            then = self._done.get(deed)
            self._count(repeat=then is not None)
            self._lost += then is not None and then < self._compactions
            self._done[deed] = self._compactions

    def compacted(self) -> None:
        self._compactions += 1
        self._since, self._lost, self._reminded = Tally(), 0, False

    def cleared(self) -> None:
        """The conversation begins anew: nothing of it counts as done."""
        self._done.clear()

    def reminder(self) -> str:
        """What the model is to be told now, once after a compaction; "" for nothing."""
        usual = self.before.repeats * self._since.deeds
        if self._reminded or self._lost < _LOST or self._since.repeats * max(1, self.before.deeds) <= usual:
            return ""
        self._reminded = True
        return (
            f"[Reminder: {self._lost} times since the context was compacted you read or ran again what you had read or "
            "run before. The results are kept: recall finds them by words, or gives one whole by its id.]"
        )

    def _count(self, *, repeat: bool) -> None:
        self._since = self._since.plus(repeat=repeat)
        if self._compactions:
            self.after = self.after.plus(repeat=repeat)
        else:
            self.before = self.before.plus(repeat=repeat)

    def _deed(self, name: str, given: dict[str, object]) -> _Deed | None:
        if name == _READ and isinstance(path := given.get("path"), str):
            first, lines = given.get("offset") or 1, given.get("limit") or _LINES
            return _READ, self._place(path), str(first), str(lines)
        if name == _RUN and isinstance(command := given.get("command"), str):
            return _RUN, command.strip(), self._place(str(given.get("cwd") or ""))
        return None

    def _changed(self, path: object) -> None:
        """What was edited is read anew with good reason, and any command may tell something new."""
        place = self._place(path) if isinstance(path, str) else None
        if place is None:
            self._done.clear()
        self._done = {deed: then for deed, then in self._done.items() if deed[0] == _READ and deed[1] != place}

    def _place(self, path: str) -> str:
        return os.path.normpath(Path(self._cwd, path.strip()))


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
