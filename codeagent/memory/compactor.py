"""`ConversationHistoryCompactor`: makes the history smaller, by one strategy (MEMORY.md 4 and 8)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from codeagent.core.entries import Compaction, Need
from codeagent.core.ports import Estimate, HistoryView, Summarize
from codeagent.core.tokens import ContextBudget
from codeagent.memory.rungs.asking import NoSummary
from codeagent.memory.rungs.base import Job, Mode, Parts, Strategy, unasked
from codeagent.memory.strategies import summary

_BUDGET = ContextBudget(128_000)


def _new_id() -> str:
    return f"c-{secrets.token_hex(4)}"


_POOR, _MORE = 0.7, 2
"""Where a summary covers less by itself, the next compaction keeps so many turns more."""


class ConversationHistoryCompactor:
    """Climbs from the cheapest rung to the dearest and takes the first proposal, which is the first that is enough."""

    def __init__(
        self,
        summarize: Summarize,
        estimate: Estimate,
        *,
        mode: Mode = "ladder",
        keep_turns: int = 3,
        mask: bool = True,
        verify: bool = True,
        new_id: Callable[[], str] = _new_id,
        strategy: Strategy = summary.STRATEGY,
        budget: ContextBudget = _BUDGET,
    ) -> None:
        """`mode`, `keep_turns`, `mask` and `verify` are those of `Parts`."""
        self._more_turns = 0
        parts = Parts(summarize, estimate, budget, new_id, mode, keep_turns, mask, verify)
        self._rungs = tuple(strategy.rungs(parts))

    async def compact(self, view: HistoryView, need: Need) -> Compaction | None:
        """A smaller form of the history; None, without a model call, when there is nothing to gain.

        Raises:
            NoSummary: none was to be had, and nothing without one helps; the history is to stay as it is.
            ContextOverflow: nothing makes the request small enough.
        """
        job, failure = Job(view, need, self._more_turns), None
        for rung in self._rungs:
            try:
                proposal = await rung.propose(job)
            except NoSummary as error:  # A model is asked once in a climb.
                job, failure = unasked(job, str(error)), error
                continue
            if proposal is not None:
                if proposal.coverage is not None:
                    self._more_turns = _MORE if proposal.coverage < _POOR else 0
                return replace(proposal, failure=str(failure)) if failure else proposal
        if failure is not None:
            raise failure
        return None
