"""Facts and an embedder for the tests of retrieval."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from codeagent.core.errors import ModelError
from codeagent.memory.entry import Fact, stamp
from codeagent.memory.retriever import Retriever
from tests.memory._world import START


def fact(content: str, id: str = "", updated: str = stamp(START), expires: str | None = None) -> Fact:
    return Fact(id or content, content, created=updated, updated=updated, expires=expires)


def ids(retriever: Retriever, query: str, facts: Sequence[Fact], top: int | None = 10) -> list[str]:
    return [hit.fact.id for hit in retriever.search(query, facts, top=top)]


class Meanings:
    """An embedder that knows what some words have to do with one another."""

    name = "meanings"
    TOPICS = (("花生", "坚果", "过敏"), ("端口", "port", "listens"), ("缩进", "tabs", "格式"))

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], str]] = []
        self.fails = 0
        """So many of the next calls fail."""
        self.gate = asyncio.Event()
        self.gate.set()
        self.closed = False

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        self.asked.append((list(texts), kind))
        await self.gate.wait()
        if self.fails:
            self.fails -= 1
            raise ModelError("The endpoint has no embeddings.")
        return [[*(0.1 + any(word in text for word in topic) for topic in self.TOPICS), 0.3] for text in texts]

    async def aclose(self) -> None:
        self.closed = True
