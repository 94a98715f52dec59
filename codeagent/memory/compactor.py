"""`ConversationHistoryCompactor`: makes the history smaller, by one strategy (MEMORY.md 4 and 8)."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from codeagent.core.entries import Compaction
from codeagent.core.ports import Estimate, HistoryView, Summarize
from codeagent.core.tokens import ContextBudget
from codeagent.memory.rungs.base import Job, Mode, Parts, Strategy
from codeagent.memory.strategies import summary

_BUDGET = ContextBudget(128_000)


def _new_id() -> str:
    return f"c-{secrets.token_hex(4)}"


class ConversationHistoryCompactor:
    """Climbs from the cheapest rung to the dearest and takes the first proposal."""

    def __init__(
        self,
        summarize: Summarize,
        estimate: Estimate,
        *,
        mode: Mode = "ladder",
        keep_turns: int = 3,
        new_id: Callable[[], str] = _new_id,
        strategy: Strategy = summary.STRATEGY,
        budget: ContextBudget = _BUDGET,
    ) -> None:
        """`mode` classic is the plain rule alone; `keep_turns` user turns stay byte for byte."""
        self._rungs = tuple(strategy.rungs(Parts(summarize, estimate, budget, new_id, mode, keep_turns)))

    async def compact(
        self, view: HistoryView, *, force: bool = False, focus: str | None = None, tokens: int
    ) -> Compaction | None:
        """A smaller form of the history; None, without a model call, when there is nothing to gain.

        Raises:
            CodeAgentError: a rung tried and failed; the history is to stay as it is.
        """
        job = Job(view, tokens, force, focus)
        for rung in self._rungs:
            if proposal := await rung.propose(job):
                return proposal
        return None
