"""What is said of a forgotten fact; the same here and for `codeagent memory`."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.memory.entry import Fact


def hidden_copy(fact: Fact, seen: Sequence[Fact]) -> str:
    """What to say when `fact`, forgotten just now, is among `seen` once more: the project's copy of a global fact."""
    copy = next((other for other in seen if other.content == fact.content), None)
    return f"This project has a copy of its own, which stays: {copy.id}" if copy else ""
