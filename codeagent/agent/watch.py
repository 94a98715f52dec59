"""Watches a session for what is done again and again, and has the model reminded of recall."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from codeagent.core.entries import Entry
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.tools import ToolResult
from codeagent.history.history import History
from codeagent.history.reading import Step, read_calls
from codeagent.memory.repeats import Repeats


class RepeatWatch:
    """Implements `core.ports.Observer`. What a session did before it goes on is read when it is first needed."""

    def __init__(self, history: History, cwd: str) -> None:
        self._history = history
        self._repeats = Repeats(cwd)
        self._unread = history.path.stat().st_size if history.path.exists() else 0
        self._compaction = self._newest()
        self._waiting: list[Step] = []
        """What came since."""
        self._lock = asyncio.Lock()

    async def repeats(self) -> Repeats:
        """The counts as they stand."""
        async with self._lock:
            if self._unread:
                self._take(await asyncio.to_thread(lambda: list(read_calls(self._history.path, self._unread))))
                self._unread = 0
            waiting, self._waiting = self._waiting, []
            self._take(waiting)
        return self._repeats

    async def after(self, call: ToolCall, result: ToolResult) -> list[str]:
        """What stands at the end of a tool's result."""
        reminder = (await self.repeats()).reminder()
        return [reminder] if reminder else []

    # ---- core.ports.Observer ---------------------------------------------------------------------------------------

    def appended(self, entry: Entry) -> None:
        if (newest := self._newest()) > self._compaction:
            self._compaction = newest
            self._waiting.append("compaction")
        if isinstance(entry.message, AssistantMessage):
            self._waiting += entry.message.calls

    def cleared(self) -> None:
        self._waiting.append("clear")

    def taken_back(self, ids: Collection[str]) -> None:
        """What was done stays done."""

    def _take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if step == "compaction":
                self._repeats.compacted()
            elif step == "clear":
                self._repeats.cleared()
            else:
                self._repeats.take(step)

    def _newest(self) -> int:
        """Number of the newest compaction in force, 0 for none."""
        return int(self._history.receipt.id[1:]) if self._history.receipt is not None else 0
