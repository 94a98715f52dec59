"""`maybe_compact_history`: the guard before every model call. Memory proposes, the history folds one record."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from codeagent.core.entries import Prompt
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Compacted, Compacting, Event, Notice
from codeagent.core.ports import Memory
from codeagent.core.tokens import ContextBudget
from codeagent.history.history import History
from codeagent.memory.breaker import Breaker
from codeagent.memory.meter import TokenMeter


class HistoryGuard:
    """Keeps the next request under the trigger of the budget."""

    def __init__(
        self,
        history: History,
        memory: Memory,
        meter: TokenMeter,
        budget: ContextBudget,
        rebuild: Callable[[str], Prompt],
        *,
        retry_after: int = 10,
    ) -> None:
        """`rebuild` makes the prompt anew for the newest user message; `retry_after` counts steps (0: every check)."""
        self._history = history
        self._memory = memory
        self._meter = meter
        self._budget = budget
        self._rebuild = rebuild
        self._breaker = Breaker(retry_after)
        self._nothing_in_turn = -1

    async def maybe_compact_history(self) -> AsyncGenerator[Event, None]:
        """Compact if the next request is over the trigger; called before every model call."""
        if self._meter.request(self._history) <= self._budget.trigger or self._nothing_in_turn == self._history.turn:
            return
        if not self._breaker.ready():
            return
        async for event in self.compact(force=False):
            yield event

    async def compact(self, *, force: bool = True, focus: str | None = None) -> AsyncGenerator[Event, None]:
        """Compact now. A summary that fails leaves the history as it is and is told, not raised.

        Raises:
            StoreError: the disk refuses.
        """
        tokens = self._meter.request(self._history)
        yield Compacting(tokens)
        try:
            proposal = await self._memory.compact(self._history, force=force, focus=focus, tokens=tokens)
        except CodeAgentError as error:
            self._breaker.failed()
            yield Notice("Compaction failed, nothing was changed: {error}", {"error": str(error)}, "warning")
            return
        if proposal is None:
            self._nothing_in_turn = self._history.turn
            yield Notice("Nothing to compact: too few finished turns before the newest.")
            return
        self._breaker.succeeded()
        receipt = self._history.fold(proposal)
        self._memory.safe_point()
        said = next((entry.said for entry in reversed(self._history.entries) if entry.said), "")
        self._history.set_prompt(self._rebuild(said), "compaction")
        yield Compacted(receipt)
        await self._history.sync()
