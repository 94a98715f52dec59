"""What every rung of the ladder is given and answers, and what a strategy makes its rungs of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from codeagent.core.entries import Compaction, Entry, Need
from codeagent.core.ports import Estimate, HistoryView, Summarize
from codeagent.core.tokens import ContextBudget

Mode = Literal["ladder", "classic"]


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction to be done."""

    view: HistoryView
    need: Need
    more_turns: int = 0
    """So many turns more are kept than usual: the summary before covered too little."""

    @property
    def tokens(self) -> int:
        return self.need.tokens


def unasked(job: Job, why: str) -> Job:
    """The same, without a model to be asked."""
    return replace(job, need=replace(job.need, ask=False, unasked=why))


class Rung(Protocol):
    async def propose(self, job: Job) -> Compaction | None:
        """A smaller form of the history, or None when this rung has nothing to offer.

        Raises:
            NoSummary: it could offer nothing without the summary that was not to be had.
            ContextOverflow: nothing makes the request small enough.
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
    mask: bool = True
    """Old tool results may become one line each."""
    verify: bool = True
    """The record stands beside the model's summary, which is compared with it; else the summary stands alone."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What a file in `memory/strategies/` exports as STRATEGY; `rungs` are climbed in their order."""

    name: str
    rungs: Callable[[Parts], Sequence[Rung]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of what the history could become; estimates of messages count as much as they do in `job.tokens`."""

    job: Job
    budget: ContextBudget
    factor: float
    """Tokens of the job for one estimated token."""
    fixed: int
    """Tokens of what stands before the messages."""

    @classmethod
    def of(cls, job: Job, parts: Parts) -> Scale:
        prompt = job.view.prompt
        fixed = parts.estimate(prompt.system.encode("utf-8", "replace")) + parts.estimate(prompt.tools)
        whole = fixed + sum(entry.tokens for entry in job.view.entries)
        factor = max(0.1, job.tokens / whole) if whole else 1.0
        return cls(job, parts.budget, factor, round(factor * fixed))

    @property
    def pressing(self) -> bool:
        """The next request cannot be sent as it is."""
        return self.job.need.overflow or self.job.tokens > self.budget.hard_limit

    @property
    def limit(self) -> int:
        """What the request must come under; where the provider's is not the one we know, with half of the messages."""
        half = self.fixed + (self.job.tokens - self.fixed) // 2
        return min(self.budget.trigger, half) if self.job.need.overflow else self.budget.trigger

    @property
    def enough(self) -> int:
        """What the request is to come under, so that the next compaction is several steps away."""
        return min(self.budget.target, self.limit * 3 // 4)

    @property
    def worth(self) -> int:
        """Tokens that a compaction must free to pay for the provider's cache, which it breaks."""
        return self.budget.trigger // 10

    def after(self, gone: int, new: int = 0) -> int:
        """The request without `gone` estimated tokens of messages, and with `new` ones."""
        return max(0, round(self.job.tokens + self.factor * (new - gone)))


def kept_from(entries: Sequence[Entry], turns: int) -> int:
    """Place of the message that opens the oldest of the newest `turns` user turns; 0 where there are no more."""
    borders = [place for place, entry in enumerate(entries) if entry.origin == "user"]
    return borders[-turns] if len(borders) > turns else 0
