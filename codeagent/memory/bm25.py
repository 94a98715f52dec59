"""The `bm25` rule, the default: facts that share rare words with the message; of equals the newer."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from codeagent.core.private import make_private
from codeagent.memory.entry import Fact
from codeagent.memory.retriever import TOP, Hit
from codeagent.text.ranking import Bm25
from codeagent.text.terms import Words, eastern, query_terms

_WORTH_KEEPING = 500
"""So many texts indexed anew, some dozen milliseconds of work, and the index is written to its file."""


class Bm25Retriever:
    """Ranks by BM25. A fact is indexed when it is first seen, and where there are many the index is kept in a file.

    Usable from any thread.
    """

    def __init__(self, words: Words, clock: Callable[[], datetime], cache: Path | None = None) -> None:
        """`words` cuts text into lower-cased words, and is not called while no fact is Chinese; `cache` is the file
        for the index of these very facts, made when it is missing."""
        self._words = words
        self._clock = clock
        self._cache = cache
        self._lock = threading.Lock()
        self._index: Bm25 | None = None
        self._facts: list[Fact] = []
        self._holders: dict[str, list[Fact]] = {}
        """Facts by content: the same content is indexed once, whoever holds it."""
        self._mortal = 0
        """Facts that expire."""
        self._eastern = False
        """Some are found by words of Chinese; where none is, no query needs to be cut."""

    async def prepare(self, query: str, facts: Sequence[Fact]) -> None:
        """Index what is new, and load what cuts the first query."""
        if facts:
            await asyncio.to_thread(self._prepare, query or "记忆", list(facts))

    def search(self, query: str, facts: Iterable[Fact], *, top: int | None = TOP) -> list[Hit]:
        seen = list(facts)
        if not seen or not query.strip():
            return []
        now = self._clock()
        with self._lock:
            index = self._follow(seen)
            terms = query_terms(query, self._words if self._eastern else _none)
            hits = [
                Hit(fact, score)
                for content, score in index.best(terms, None if top is None else top + self._mortal).items()
                for fact in self._holders[content]
                if fact.expires is None or not fact.expired(now)
            ]
        hits.sort(key=lambda hit: (hit.score, hit.fact.updated), reverse=True)
        return hits[:top]

    async def aclose(self) -> None:
        """Nothing is open."""

    def _prepare(self, query: str, facts: list[Fact]) -> None:
        with self._lock:
            self._follow(facts)
            if self._eastern:
                query_terms(query, self._words)

    def _follow(self, facts: list[Fact]) -> Bm25:
        """The index, made one of exactly these facts."""
        index = self._index
        if index is not None and facts == self._facts:  # mostly the very same objects: quick
            return index
        if index is None:
            self._index = index = self._read()
        holders: dict[str, list[Fact]] = {}
        for fact in facts:
            holders.setdefault(fact.content, []).append(fact)
        gone = [content for content in index if content not in holders]
        for content in gone:
            index.remove(content)
        added = [content for content in holders if content not in index]
        for content in added:
            index.add(content)
        if self._cache and (len(added) >= _WORTH_KEEPING or (gone and self._cache.exists())):
            _write(self._cache, index)  # what was forgotten leaves the file, too
        self._facts, self._holders = facts, holders
        self._mortal = sum(fact.expires is not None for fact in facts)
        self._eastern = any(map(eastern, holders))
        return index

    def _read(self) -> Bm25:
        try:
            return (Bm25.load(self._cache.read_bytes()) if self._cache else None) or Bm25()
        except OSError:
            return Bm25()


def _none(text: str) -> Sequence[str]:
    return ()


def _write(path: Path, index: Bm25) -> None:
    """Replace the file, readable by its owner alone; without it there is only more to do at the next start."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        make_private(path.parent)
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(index.dump())
        aside.replace(path)
