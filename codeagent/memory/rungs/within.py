"""Rung 3: inside a long turn the request stays, finished groups are folded behind it, the newest groups stay."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.entries import Compaction
from codeagent.memory.rungs.base import Job, Parts, Scale
from codeagent.memory.rungs.fold import Folding, Plan
from codeagent.memory.working import groups

RUNG = 3
NEWEST = 5
"""So many of the newest groups stay, as far as they fit."""


@dataclass(frozen=True, slots=True)
class FoldWithin:
    """Keeps as many of the newest groups as fit, one at least."""

    parts: Parts
    folding: Folding

    async def propose(self, job: Job) -> Compaction | None:
        """None when it would not be enough for a request that cannot be sent, or nobody needs it.

        Raises:
            NoSummary: there is no good one, and the request can still be sent as it is.
        """
        scale, entries = Scale.of(job, self.parts), job.view.entries
        if job.need.force and not scale.pressing:
            return None
        all, draft = groups(entries), None
        for kept in range(min(NEWEST, len(all) - 1), 0, -1):
            draft = self.folding.draft(job, Plan(RUNG, len(entries) - sum(map(len, all[-kept:]))))
            if (size := self.folding.predicted(scale, draft)) <= scale.enough:
                break
        if draft is None or (scale.pressing and size > scale.limit):
            return None
        return await self.folding.fold(job, draft)
