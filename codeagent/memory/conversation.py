"""Feeds short-term memory from the history, and has it compressed in the background (MEMORY.md 3)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from itertools import islice

from codeagent.core.entries import Entry
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import AssistantMessage, ToolMessage, UserMessage
from codeagent.core.ports import HistoryView
from codeagent.memory.breaker import Breaker
from codeagent.memory.compressor import GROUP, KEPT, ContextCompressor
from codeagent.memory.entry import stamp
from codeagent.memory.short_term import ConversationMemory, Kind, MemoryEntry

TOOL_RESULT = 500
"""Characters of a tool result that short-term memory keeps."""


def _new_id() -> str:
    return f"s-{secrets.token_hex(4)}"


class ConversationKeeper:
    """Implements `core.ports.Observer` for one session; at most one compression runs at a time, and nobody waits."""

    def __init__(
        self,
        memory: ConversationMemory,
        compressor: ContextCompressor,
        history: HistoryView,
        estimate: Callable[[str], int],
        clock: Callable[[], datetime],
        *,
        threshold: int,
        retry_after: int = 10,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        """`threshold`: tokens from which on entries are compressed; `retry_after`: as for the history's compaction."""
        self.memory = memory
        self._compressor = compressor
        self._history = history
        self._estimate = estimate
        self._clock = clock
        self._threshold = threshold
        self._breaker = Breaker(retry_after)
        self._new_id = new_id
        self._running: asyncio.Task[None] | None = None

    # ---- what happens to the history -------------------------------------------------------------------------------

    def appended(self, entry: Entry) -> None:
        if (kept := self._entry(entry, stamp(self._clock()))) is not None:
            self.memory.append(kept)
            self.compress_if_needed()

    def cleared(self) -> None:
        self._stop()
        self.memory.clear()

    def taken_back(self, ids: Collection[str]) -> None:
        self._stop()
        for id in ids:
            self.memory.delete(id)

    def fill(self) -> None:
        """Take up a conversation that goes on; when its messages were said is not known."""
        for entry in self._history.entries:
            if (kept := self._entry(entry, "")) is not None:
                self.memory.append(kept)

    # ---- what is known ---------------------------------------------------------------------------------------------

    def outside(self) -> list[MemoryEntry]:
        """What was said and no longer stands in the history; oldest first."""
        inside = {entry.id: entry for entry in self._history.entries}
        return [kept for kept in self.memory if not _stands(kept, inside.get(kept.id))]

    # ---- compression -----------------------------------------------------------------------------------------------

    def compress_if_needed(self) -> None:
        """Begin to compress in the background, when there is so much that it is time, and it would help."""
        if self.memory.tokens < self._threshold or self._running is not None or not self._worthwhile():
            return
        if self._breaker.ready():
            self._running = asyncio.get_running_loop().create_task(self._compress())

    async def settled(self) -> None:
        """Wait for the compression that is under way."""
        if self._running is not None:
            await asyncio.wait([self._running])

    async def aclose(self) -> None:
        running = self._running
        self._stop()
        if running is not None:
            await asyncio.wait([running])

    def _worthwhile(self) -> bool:
        """Something older than the newest entries is there that no summary stands for yet. Where these alone are too
        large, a whole group of it: else each further entry would cost a request and change nothing."""
        fresh = len(self.memory) - KEPT - self._summaries()
        newest = sum(entry.tokens for entry in self.memory.newest(KEPT))
        return fresh >= (1 if newest < self._threshold else GROUP)

    def _summaries(self) -> int:
        return sum(entry.kind == "summary" for entry in islice(self.memory, 1))

    async def _compress(self) -> None:
        older = list(islice(self.memory, max(0, len(self.memory) - KEPT)))
        try:
            content = await self._compressor.compress(older)
        except CodeAgentError:
            self._breaker.failed()
        else:
            summary = MemoryEntry(self._new_id(), "summary", content, self._estimate(content), stamp(self._clock()))
            if summary.tokens < sum(entry.tokens for entry in older):
                self._breaker.succeeded()
                self.memory.replace(older, summary)
            else:
                self._breaker.failed()
        finally:
            if self._running is asyncio.current_task():
                self._running = None

    def _stop(self) -> None:
        """What is being compressed is not wanted any more."""
        if self._running is not None:
            self._running.cancel()
            self._running = None

    def _entry(self, entry: Entry, at: str) -> MemoryEntry | None:
        """The short form of a message; None where nothing was said."""
        if entry.origin in ("summary", "system"):
            return None
        match entry.message:
            case UserMessage(text):
                return self._made(entry.id, "user", entry.said if entry.said is not None else text, at)
            case AssistantMessage(text, calls):
                called = "\n".join(f"{call.name} {call.arguments}"[:TOOL_RESULT] for call in calls)
                return self._made(entry.id, "assistant", f"{text}\n{called}".strip(), at)
            case ToolMessage(text=text):
                return self._made(entry.id, "tool", text[:TOOL_RESULT], at)
        return None

    def _made(self, id: str, kind: Kind, content: str, at: str) -> MemoryEntry | None:
        return MemoryEntry(id, kind, content, self._estimate(content), at) if content.strip() else None


def _stands(kept: MemoryEntry, entry: Entry | None) -> bool:
    """Whether what was kept is still to be read in `entry`; a masked result has its id and not its text."""
    if entry is None:
        return False
    return not isinstance(entry.message, ToolMessage) or entry.message.text.startswith(kept.content)
