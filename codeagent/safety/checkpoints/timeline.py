"""What was changed, taken back and done again in a session: folded from its `checkpoint` records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from codeagent.safety.checkpoints.states import Changed, from_json, to_json
from codeagent.safety.checkpoints.store import Store

LISTED = 100
"""Paths that a record names; all of them are in the store."""


class Log(Protocol):
    """Where the records are: the session file."""

    @property
    def turn(self) -> int: ...
    def write(self, fields: Mapping[str, object]) -> None:
        """Raises StoreError."""
        ...

    def read(self) -> Sequence[Mapping[str, Any]]:
        """The fields of all checkpoint records, oldest first. Raises StoreError."""
        ...


@dataclass(frozen=True, slots=True)
class Record:
    """`kind`: change, undo or redo; `states`: digest of all states before and after, in the store."""

    kind: str
    states: str
    files: tuple[str, ...]
    """The first of the paths."""
    count: int
    turns: tuple[int, ...] = ()
    """What is taken back or done again; empty for a change, which belongs to the turn under way."""
    call: str = ""
    """Id of what made the change."""


def record_of(
    store: Store, kind: str, changes: Sequence[Changed], turns: tuple[int, ...] = (), call: str = ""
) -> Record:
    """A record whose states are in the store, within the caller's transaction. Raises StoreError."""
    states = store.put(to_json(changes))
    return Record(kind, states, tuple(one.path for one in changes[:LISTED]), len(changes), turns, call)


@dataclass(slots=True)
class _Group:
    """Changes that are taken back together."""

    turn: int
    states: list[str]


class Past:
    """Two stacks: what can be taken back, and what can be done again."""

    def __init__(self, log: Log, store: Store) -> None:
        self._log = log
        self._store = store
        self._done: list[_Group] = []
        self._undone: list[_Group] = []
        self.fresh = True
        """Nothing was read yet."""
        self.calls: set[str] = set()
        """Ids of what is on record."""

    def load(self) -> None:
        """Raises StoreError."""
        for fields in self._log.read():
            turns, states, kind, call = (fields.get(key) for key in ("turns", "states", "kind", "call"))
            if isinstance(turns, list) and turns and isinstance(states, str):
                self._fold(kind if isinstance(kind, str) else "change", turns, states)
                self.calls.add(str(call))
        self.fresh = False

    def add(self, record: Record) -> None:
        """Raises StoreError: nothing was recorded."""
        turns = record.turns or (self._log.turn,)
        self._log.write(
            {
                "kind": record.kind,
                "turns": turns,
                "files": record.files,
                "count": record.count,
                "states": record.states,
                "call": record.call or None,
            }
        )
        self._fold(record.kind, turns, record.states)

    def _fold(self, kind: str, turns: Sequence[int], states: str) -> None:
        match kind:
            case "undo":
                self._done = [group for group in self._done if group.turn not in turns]
                self._undone.append(_Group(turns[0], [states]))
            case "redo":
                self._undone = self._undone[:-1]
                self._done.append(_Group(turns[0], [states]))
            case _:
                self._undone.clear()
                if self._done and self._done[-1].turn == turns[0]:
                    self._done[-1].states.append(states)
                else:
                    self._done.append(_Group(turns[0], [states]))

    def done(self) -> Iterator[tuple[int, list[Sequence[Changed]]]]:
        """(turn, its changes) of what can be taken back, oldest first."""
        return (self._told(group) for group in self._done)

    def undone(self) -> tuple[int, list[Sequence[Changed]]] | None:
        """What can be done again."""
        return self._told(self._undone[-1]) if self._undone else None

    def _told(self, group: _Group) -> tuple[int, list[Sequence[Changed]]]:
        found = (self._store.get(states) for states in group.states)
        return group.turn, [from_json(data) for data in found if data is not None]
