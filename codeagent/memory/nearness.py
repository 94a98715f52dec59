"""How near passages lie to a query in meaning: for the few of the past that words have found already."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence

from codeagent.core.errors import CodeAgentError
from codeagent.core.ports import Embedder
from codeagent.memory.hybrid import FAILURES, LONGEST, PATIENCE
from codeagent.memory.vectors import cosine, relative, unit

_BATCH = 6
_REMEMBERED = 500
"""Passages whose vectors are kept, of some kilobytes each."""


class Nearness:
    """Implements `core.past.Near`. Embeds what it is asked about and nothing else; vectors live as long as it does."""

    def __init__(self, embedder: Embedder, *, patience: float = PATIENCE) -> None:
        """`embedder` stays whose it is; `patience`: seconds that a search waits for it."""
        self._embedder = embedder
        self._patience = patience
        self._vectors: dict[str, array[float]] = {}
        self._failures = 0

    async def __call__(self, query: str, passages: Sequence[str]) -> list[float] | None:
        if not passages or self._failures >= FAILURES:
            return None
        try:
            async with asyncio.timeout(self._patience):
                [asked] = await self._embedder.embed([query[:LONGEST]], "query")
                await self._embed([text for text in dict.fromkeys(passages) if text not in self._vectors])
        except (TimeoutError, CodeAgentError):
            self._failures += 1
            return None
        self._failures = 0
        near = relative([cosine(unit(asked), self._vectors[text]) for text in passages])
        while len(self._vectors) > _REMEMBERED:
            del self._vectors[next(iter(self._vectors))]
        return near

    async def _embed(self, texts: list[str]) -> None:
        """In small parts: what is done when the patience ends serves the next search."""
        for start in range(0, len(texts), _BATCH):
            part = texts[start : start + _BATCH]
            vectors = await self._embedder.embed([text[:LONGEST] for text in part], "passage")
            self._vectors.update((text, unit(vector)) for text, vector in zip(part, vectors, strict=True))
