"""The steps of the work at hand, as the model keeps them before itself and the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

TodoState = Literal["pending", "in_progress", "done"]


@dataclass(frozen=True, slots=True)
class Todo:
    """One step, in a line."""

    content: str
    state: TodoState = "pending"


class Todos(Protocol):
    """The list of a session."""

    @property
    def items(self) -> Sequence[Todo]:
        """All steps in order, finished ones included."""
        ...

    def replace(self, items: Sequence[Todo]) -> None:
        """The whole list as it is from now on."""
        ...


def finished(items: Sequence[Todo]) -> int:
    """How many are done."""
    return sum(item.state == "done" for item in items)


def current(items: Sequence[Todo]) -> Todo | None:
    """The step that is being worked on, else the first that waits; None when nothing is left."""
    left = [item for item in items if item.state != "done"]
    return next((item for item in left if item.state == "in_progress"), left[0] if left else None)
