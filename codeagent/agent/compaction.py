"""`maybe_compact_history`: the guard before every model call. Memory proposes, the history folds one record."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from codeagent.core.entries import Compaction, Need, Prompt
from codeagent.core.errors import CodeAgentError, ContextOverflow
from codeagent.core.events import Compacted, Compacting, Event, Notice
from codeagent.core.ports import Memory
from codeagent.core.tokens import ContextBudget
from codeagent.history.history import History
from codeagent.memory.breaker import Breaker
from codeagent.memory.meter import TokenMeter

_GROWTH = 8
"""After a compaction, and where there was nothing to gain, the next is thought of when the request has grown by the
trigger divided by this."""
_RESTS = "the summariser rests after failures"
_AT_ONCE = "this one follows at once on another"


class HistoryGuard:
    """Keeps the next request under the trigger of the budget, and in any case under its hard limit."""

    def __init__(
        self,
        history: History,
        memory: Memory,
        meter: TokenMeter,
        budget: ContextBudget,
        rebuild: Callable[[str], Prompt],
        *,
        retry_after: int = 10,
        hard: bool = True,
    ) -> None:
        """`rebuild` makes the prompt anew for the newest user message; `retry_after` counts steps (0: every check);
        without `hard` nothing is done but what the trigger asks for."""
        self._history = history
        self._memory = memory
        self._meter = meter
        self._budget = budget
        self._rebuild = rebuild
        self._hard = hard
        self._breaker = Breaker(retry_after)
        self._floor = 0
        """Up to this size nothing is tried again."""
        self._told_in_turn = -1

    async def maybe_compact_history(self) -> AsyncGenerator[Event, None]:
        """Compact if the next request is over the trigger; called before every model call.

        Raises:
            ContextOverflow: the request is over the hard limit, and nothing makes it small enough.
        """
        tokens = self._tokens()
        if tokens <= self._budget.trigger:
            self._floor = 0
            return
        pressing = self._hard and tokens > self._budget.hard_limit
        # After one was taken back the next comes by itself only at the hard limit.
        if not pressing and (self._history.resting or tokens <= self._floor):
            return
        unasked = "" if self._breaker.ready() else _RESTS
        async for event in self._climb(tokens, unasked=unasked):
            yield event
        if pressing and self._tokens() > self._budget.hard_limit:  # what was counted before was too little
            async for event in self._climb(self._tokens(), unasked=unasked or _AT_ONCE):
                yield event
        if self._hard and (after := self._tokens()) > self._budget.hard_limit:
            raise ContextOverflow(
                "The next request would take {tokens:,} tokens; {limit:,} fit.",
                tokens=after,
                limit=self._budget.hard_limit,
                hint="Use a model with a larger window, or begin anew with /clear.",
            )

    async def compact(
        self, *, force: bool = True, focus: str | None = None, overflow: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Compact now: at the person's word, or with `overflow` at the provider's. Failures are told, not raised.

        Raises:
            ContextOverflow: the provider refused the request, and nothing makes it small enough.
            StoreError: the disk refuses.
        """
        async for event in self._climb(self._tokens(), force=force, focus=focus, overflow=overflow):
            yield event

    def taken_back(self) -> None:
        """A compaction was taken back: a safe point."""
        self._history.set_prompt(self._prompt(), "undo")

    async def _climb(
        self, tokens: int, *, force: bool = False, focus: str | None = None, overflow: bool = False, unasked: str = ""
    ) -> AsyncGenerator[Event, None]:
        """`unasked`: why no model may be asked for a summary, where that is so."""
        ask = not unasked
        if ask:
            yield Compacting(tokens)
        # Once folded it is counted by estimate alone, which may be more than what the provider reported.
        estimate = self._meter.fixed(self._history.prompt) + round(self._meter.factor * self._history.tokens)
        tokens = max(tokens, estimate)
        try:
            proposal = await self._memory.compact(self._history, Need(tokens, force, focus, overflow, ask, unasked))
        except ContextOverflow:
            raise
        except CodeAgentError as error:
            self._breaker.failed()
            yield Notice("Compaction failed, nothing was changed: {error}", {"error": str(error)}, "warning")
            return
        if proposal is None:
            if ask:
                self._floor = tokens + self._budget.trigger // _GROWTH
                if force or self._told_in_turn != self._history.turn:
                    self._told_in_turn = self._history.turn
                    yield Notice("Nothing to compact: what could leave is too small to gain anything.")
            return
        if proposal.failure and ask:
            self._breaker.failed()
        elif proposal.rung > 1:
            self._breaker.succeeded()
        yield Compacted(self._fold(proposal))
        await self._history.sync()

    def _fold(self, proposal: Compaction) -> Compaction:
        # The receipt tells of the block that the prompt will have from now on.
        receipt = self._history.fold(replace(proposal, digest=self._memory.pinned()))
        self._history.set_prompt(self._prompt(), "compaction")
        self._floor = self._tokens() + self._budget.trigger // _GROWTH
        return receipt

    def _prompt(self) -> Prompt:
        self._memory.safe_point()
        return self._rebuild(next((entry.said for entry in reversed(self._history.entries) if entry.said), ""))

    def _tokens(self) -> int:
        return self._meter.request(self._history)
