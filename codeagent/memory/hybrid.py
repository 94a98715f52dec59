"""The `hybrid` rule: shared words and likeness of meaning, half and half."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from codeagent.core.errors import CodeAgentError, NetworkError
from codeagent.core.events import Notice
from codeagent.core.ports import Embedder
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.entry import Fact
from codeagent.memory.retriever import TOP, Hit
from codeagent.memory.vectors import NEAREST, VectorCache

PATIENCE = 5.0
"""Seconds that a message waits for its embedding at most, and for those of new facts as long as is left of them: a
local model must be loaded first, on a machine that may be busy."""
FAILURES = 3
"""So many in a row, and embeddings are not asked for any more."""
LONGEST = 2_000
"""Characters of a query that are embedded."""
_BATCH = 64
_REMEMBERED = 8


class HybridRetriever:
    """BM25 and embeddings, fused by normalised score. What was not prepared, or cannot be, is found by words alone."""

    def __init__(
        self,
        by_words: Bm25Retriever,
        embedder: Embedder,
        vectors: VectorCache,
        clock: Callable[[], datetime],
        tell: Callable[[Notice], None],
        *,
        patience: float = PATIENCE,
    ) -> None:
        """`tell` hears, once, that there are no embeddings to be had."""
        self._by_words = by_words
        self._embedder = embedder
        self._vectors = vectors
        self._clock = clock
        self._tell = tell
        self._patience = patience
        self._alike: dict[str, dict[str, float]] = {}
        """For the newest queries: likeness by content."""
        self._filling: asyncio.Task[None] | None = None
        self._failures = 0
        self._told = False

    async def prepare(self, query: str, facts: Sequence[Fact]) -> None:
        """Index, embed the query, and embed facts that are new; a long rest of them goes on in the background."""
        await self._by_words.prepare(query, facts)
        if not facts or self._failures >= FAILURES:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + self._patience
        filling = await self._fill([fact.content for fact in facts])
        if not query.strip() or (vector := await self._embedded(query)) is None:
            return
        if filling is not None:
            await asyncio.wait({filling}, timeout=max(0.0, end - loop.time()))
        self._alike[query] = await asyncio.to_thread(self._vectors.alike, vector)
        while len(self._alike) > _REMEMBERED:
            del self._alike[next(iter(self._alike))]

    def search(self, query: str, facts: Iterable[Fact], *, top: int | None = TOP) -> list[Hit]:
        seen, alike = list(facts), self._alike.get(query)
        if not alike:
            return self._by_words.search(query, seen, top=top)
        words = self._by_words.search(query, seen, top=None if top is None else top + NEAREST)
        best = words[0].score if words else 1.0
        shared = {hit.fact.content: hit.score / best for hit in words}
        now = self._clock()
        hits = [
            Hit(fact, score)
            for fact in seen
            if (score := (shared.get(fact.content, 0.0) + alike.get(fact.content, 0.0)) / 2) > 0
            and (fact.expires is None or not fact.expired(now))
        ]
        hits.sort(key=lambda hit: (hit.score, hit.fact.updated), reverse=True)
        return hits[:top]

    async def aclose(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.wait({self._filling})
        await self._embedder.aclose()
        self._vectors.close()

    async def _embedded(self, query: str) -> Sequence[float] | None:
        try:
            async with asyncio.timeout(self._patience):
                [vector] = await self._embedder.embed([query[:LONGEST]], "query")
        except TimeoutError:
            self._failed(NetworkError("no answer within {seconds:g} s", seconds=self._patience))
        except CodeAgentError as error:
            self._failed(error)
        else:
            self._failures = 0
            return vector
        return None

    async def _fill(self, contents: list[str]) -> asyncio.Task[None] | None:
        """The task that embeds what has no vector yet; None when there is nothing to do."""
        if self._filling is None or self._filling.done():
            missing = await asyncio.to_thread(self._vectors.missing, contents)
            self._filling = asyncio.create_task(self._embed(missing)) if missing else None
        return self._filling

    async def _embed(self, contents: list[str]) -> None:
        try:
            for start in range(0, len(contents), _BATCH):
                batch = contents[start : start + _BATCH]
                vectors = await self._embedder.embed(batch, "passage")
                await asyncio.to_thread(self._vectors.put, batch, vectors)
        except CodeAgentError as error:
            self._failed(error)

    def _failed(self, error: CodeAgentError) -> None:
        self._failures += 1
        if not self._told:
            self._told = True
            sentence = "Facts are found by their words alone, there are no embeddings: {reason}"
            self._tell(Notice(sentence, {"reason": str(error)}, "warning"))
