"""What is said of facts that are no longer told to the model; the same here and for `codeagent memory`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from codeagent.memory.entry import Fact


def hidden_copy(fact: Fact, seen: Sequence[Fact]) -> str:
    """What to say when `fact`, forgotten just now, is among `seen` once more: the project's copy of a global fact."""
    copy = next((other for other in seen if other.content == fact.content), None)
    return f"This project has a copy of its own, which stays: {copy.id}" if copy else ""


def marked(fact: Fact) -> str:
    """The content for a list; a fact that has expired, and is never told to the model, says so."""
    return f"(expired) {fact.content}" if fact.expires and fact.expired(datetime.now(UTC)) else fact.content
