"""Rung 2: everything before the newest user turns becomes one summary. The cut lies on a user message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codeagent.core.entries import Compaction, Entry
from codeagent.core.messages import AssistantMessage
from codeagent.memory.rungs.base import Job, Parts, Scale, kept_from
from codeagent.memory.rungs.fold import Folding, Plan

RUNG = 2


@dataclass(frozen=True, slots=True)
class Summarise:
    """Rebuilds the messages as user (record and summary), assistant (acknowledgement), and the newest turns."""

    parts: Parts
    folding: Folding

    async def propose(self, job: Job) -> Compaction | None:
        """None when there is no cut, or what stays behind it is too large.

        Raises:
            NoSummary: there is no good one, and the request can still be sent as it is.
        """
        turns = self.parts.keep_turns + (0 if job.need.force else job.more_turns)
        if not (cut := cut_at(job.view.entries, turns, whole=job.need.force)):
            return None
        draft = self.folding.draft(job, Plan(RUNG, cut))
        scale = Scale.of(job, self.parts)
        if not job.need.force and self.folding.predicted(scale, draft) > scale.enough:
            return None
        return await self.folding.fold(job, draft)


def cut_at(entries: Sequence[Entry], turns: int, *, whole: bool) -> int:
    """Place of the first message to keep, one that opens a turn; 0 where there is none to cut at.

    With `whole`, as when the person asks for it, fewer turns are kept where there are fewer: the newest, or none of a
    single one that is over.
    """
    if (cut := kept_from(entries, turns)) or not whole:
        return cut
    return kept_from(entries, 1) or (len(entries) if _ends_a_turn(entries) else 0)


def _ends_a_turn(entries: Sequence[Entry]) -> bool:
    last = entries[-1].message if entries else None
    return isinstance(last, AssistantMessage) and not last.calls
