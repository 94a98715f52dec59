"""What was forgotten and can be brought back, and how; the same here and for `codeagent memory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codeagent.memory.entry import Fact


class Forgetful(Protocol):
    """What forgets facts and brings them back."""

    def forgotten(self) -> list[Fact]:
        """The newest loss first."""

    def undo(self, reference: str = "") -> Fact:
        """Raises StoreError."""


def returnable(gone: Sequence[Fact], seen: Sequence[Fact]) -> list[Fact]:
    """Those of `gone` whose content and key nothing of `seen` has taken since."""
    return [fact for fact in gone if not any(_takes(other, fact) for other in seen)]


def bring_back(memory: Forgetful, reference: str, seen: Sequence[Fact]) -> Fact:
    """Bring back the fact of this id; without one the newest loss that can come back.

    Raises:
        StoreError: there is none, or its content or key has been saved anew; or it could not be written.
    """
    back = [] if reference else returnable(memory.forgotten(), seen)
    return memory.undo(back[0].id if back else reference)


def hidden_copy(fact: Fact, seen: Sequence[Fact]) -> str:
    """What to say when `fact`, forgotten just now, is among `seen` once more: the project's copy of a global fact."""
    copy = next((other for other in seen if other.content == fact.content), None)
    return f"This project has a copy of its own, which stays: {copy.id}" if copy else ""


def _takes(one: Fact, other: Fact) -> bool:
    same = (one.scope, one.project) == (other.scope, other.project)
    return same and (one.content == other.content or (one.key is not None and one.key == other.key))
