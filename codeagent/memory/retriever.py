"""Which facts matter for a message: what a retriever offers, and the `keyword` rule (MEMORY.md 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from codeagent.memory.entry import Fact

TOP = 10
LONG_TERM = 1.2
"""Weight of long-term memory against other kinds."""
_DAY = 24.0


@dataclass(frozen=True, slots=True)
class Hit:
    fact: Fact
    score: float


class Retriever(Protocol):
    """One rule by which facts are found."""

    async def prepare(self, query: str, facts: Sequence[Fact]) -> None:
        """Do beforehand, and not in the caller's way, what makes `search` slow or needs an endpoint; never raises.

        May be left out: `search` then does by itself what it can. An empty query prepares for whatever will come.
        """
        ...

    def search(self, query: str, facts: Iterable[Fact], *, top: int | None = TOP) -> list[Hit]:
        """Facts that match `query` at all, best first, `top` of them at most (None: all)."""
        ...

    async def aclose(self) -> None: ...


class KeywordRetriever:
    """The classic rule: the query whole in the fact counts 1, else the share of its words; times age, times 1.2."""

    def __init__(self, words: Callable[[str], Sequence[str]], clock: Callable[[], datetime]) -> None:
        """`words` cuts text into lower-cased words, and is not called while there are no facts."""
        self._words = words
        self._clock = clock

    async def prepare(self, query: str, facts: Sequence[Fact]) -> None:
        """There is nothing to prepare."""

    def search(self, query: str, facts: Iterable[Fact], *, top: int | None = TOP) -> list[Hit]:
        now = self._clock()
        live = [fact for fact in facts if not fact.expired(now)]
        whole = query.strip().lower()
        if not live or not whole:
            return []
        words = tuple(dict.fromkeys(self._words(query)))
        hits = [
            Hit(fact, matched * _decay(fact.age(now)) * LONG_TERM)
            for fact in live
            if (matched := _match(whole, words, fact.content.lower())) > 0
        ]
        hits.sort(key=lambda hit: (hit.score, hit.fact.updated), reverse=True)
        return hits[:top]

    async def aclose(self) -> None:
        """Nothing is open."""


def _match(whole: str, words: Sequence[str], content: str) -> float:
    if whole in content:
        return 1.0
    return sum(word in content for word in words) / len(words) if words else 0.0


def _decay(hours: float) -> float:
    """1.0 for a fact of now, 0.5 for one of a day and older, linear in between."""
    return 1.0 - 0.5 * min(hours / _DAY, 1.0)
