"""`ContextCompressor`: many short-term entries become one summary, by map and reduce (MEMORY.md 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from codeagent.core.errors import ModelError
from codeagent.core.messages import UserMessage, encode
from codeagent.core.ports import Summarize
from codeagent.memory.short_term import MemoryEntry

KEPT = 3
"""So many of the newest entries stay as they are."""
GROUP = 5
"""So many entries go into one request."""
PARALLEL = 2
"""So many requests at once."""
_NO_TOOLS = b"[]"


class ContextCompressor:
    """Asks a model for one summary of each group, then for one of all of them."""

    def __init__(
        self, summarize: Summarize, estimate: Callable[[str], int], *, window: int, parallel: int = PARALLEL
    ) -> None:
        """`window`: tokens that one request may hold beside its instruction and the reply."""
        self._summarize = summarize
        self._estimate = estimate
        self._window = max(1, window)
        self._parallel = parallel
        self._instruction = (Path(__file__).parent / "prompts" / "compress.md").read_text(encoding="utf-8").strip()

    async def compress(self, entries: Sequence[MemoryEntry]) -> str:
        """One summary of `entries`, which are in order.

        Raises:
            CodeAgentError: a request failed or gave nothing.
        """
        texts = [f"[{entry.kind}] {entry.content}" for entry in entries]
        summaries = await self._map(list(self._groups(texts, GROUP)))
        while len(summaries) > 1:
            merged = await self._map(list(self._groups(summaries, None)))
            if len(merged) >= len(summaries):
                raise ModelError("The summaries of the conversation are too long to be merged.")
            summaries = merged
        return summaries[0]

    async def _map(self, groups: Sequence[str]) -> list[str]:
        """The summaries of the groups, in their order; the first failure ends all requests that still run."""
        gate = asyncio.Semaphore(self._parallel)

        async def one(text: str) -> str:
            async with gate:
                summary = await self._summarize((encode(UserMessage(text)),), _NO_TOOLS, self._instruction)
            if not summary.strip():
                raise ModelError("The model gave an empty summary.")
            return summary.strip()

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(text)) for text in groups]
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        return [task.result() for task in tasks]

    def _groups(self, texts: Sequence[str], most: int | None) -> Iterator[str]:
        """`texts` joined to requests of at most `most` of them, each within the window."""
        group: list[str] = []
        size = 0
        for text in (piece for whole in texts for piece in self._pieces(whole)):
            tokens = self._estimate(text)
            if group and (len(group) == most or size + tokens > self._window):
                yield "\n\n".join(group)
                group, size = [], 0
            group.append(text)
            size += tokens
        if group:
            yield "\n\n".join(group)

    def _pieces(self, text: str) -> Iterator[str]:
        """`text` whole, or halved until each part is within the window."""
        if self._estimate(text) <= self._window or len(text) < 2:
            yield text
            return
        middle = len(text) // 2
        yield from self._pieces(text[:middle])
        yield from self._pieces(text[middle:])
