"""What every rung of the ladder is given and answers, and what a strategy makes its rungs of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codeagent.core.entries import Compaction
from codeagent.core.ports import Estimate, HistoryView, Summarize
from codeagent.core.tokens import ContextBudget

Mode = Literal["ladder", "classic"]


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction to be done."""

    view: HistoryView
    tokens: int
    """Size of the next request as it stands."""
    force: bool = False
    """The person, or the provider's refusal, asks for it: be content with less to keep."""
    focus: str | None = None
    """What the person wants the summary to dwell on."""


class Rung(Protocol):
    async def propose(self, job: Job) -> Compaction | None:
        """A smaller form of the history, or None when this rung has nothing to offer.

        Raises:
            CodeAgentError: it tried and failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What rungs are made of."""

    summarize: Summarize
    estimate: Estimate
    budget: ContextBudget
    new_id: Callable[[], str]
    mode: Mode = "ladder"
    """classic: the plain rule alone."""
    keep_turns: int = 3
    """User turns that stay byte for byte."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What a file in `memory/strategies/` exports as STRATEGY; `rungs` are climbed in their order."""

    name: str
    rungs: Callable[[Parts], Sequence[Rung]]
