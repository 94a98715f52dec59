"""The `bm25` rule, the default: facts that share rare words with the message; of equals the newer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from heapq import nlargest

from codeagent.memory.entry import Fact
from codeagent.memory.retriever import TOP, Hit
from codeagent.text.ranking import Bm25
from codeagent.text.terms import Words, query_terms


class Bm25Retriever:
    """Ranks by BM25. Facts are indexed when they are first seen; usable from any thread."""

    def __init__(self, words: Words, clock: Callable[[], datetime]) -> None:
        """`words` cuts text into lower-cased words, and is not called while there are no facts."""
        self._words = words
        self._clock = clock
        self._lock = threading.Lock()
        self._index = Bm25()
        self._numbers: dict[str, int] = {}
        """Number in the index by content: the same content is indexed once, whoever holds it."""
        self._facts: list[Fact] = []
        self._holders: dict[int, list[Fact]] = {}

    async def prepare(self, query: str, facts: Sequence[Fact]) -> None:
        """Index what is new, and load what cuts the first query."""
        if facts:
            await asyncio.to_thread(self.search, query or "记忆", facts)

    def search(self, query: str, facts: Iterable[Fact], *, top: int | None = TOP) -> list[Hit]:
        seen = list(facts)
        if not seen or not query.strip():
            return []
        terms = query_terms(query, self._words)
        now = self._clock()
        with self._lock:
            self._follow(seen)
            hits = [
                Hit(fact, score)
                for number, score in self._index.scores(terms).items()
                for fact in self._holders[number]
                if fact.expires is None or not fact.expired(now)
            ]
        if top is None:
            return sorted(hits, key=_rank, reverse=True)
        return nlargest(top, hits, key=_rank)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _follow(self, facts: list[Fact]) -> None:
        """Make the index one of exactly these facts."""
        if facts == self._facts:  # mostly the very same objects: quick
            return
        contents = {fact.content for fact in facts}
        for content in [content for content in self._numbers if content not in contents]:
            self._index.remove(self._numbers.pop(content))
        holders: dict[int, list[Fact]] = {}
        for fact in facts:
            number = self._numbers.get(fact.content)
            if number is None:
                number = self._numbers[fact.content] = self._index.add(fact.content)
            holders.setdefault(number, []).append(fact)
        self._facts, self._holders = facts, holders


def _rank(hit: Hit) -> tuple[float, str]:
    return hit.score, hit.fact.updated
