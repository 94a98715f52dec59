"""What every rung of the ladder is given and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from codeagent.core.entries import Compaction
from codeagent.core.ports import HistoryView


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
