"""Rung 4: the request cannot be sent as it is. Fewer groups, shorter results, pastes out; else the sizes are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codeagent.core.entries import Compaction, Entry, Replacement
from codeagent.core.errors import ContextOverflow
from codeagent.core.messages import UserMessage, encode, unseen
from codeagent.memory.pastes import without_pastes
from codeagent.memory.rungs.asking import NoSummary
from codeagent.memory.rungs.base import Job, Parts, Scale, unasked
from codeagent.memory.rungs.fold import Folding, Plan
from codeagent.memory.rungs.mask import NO_LONGER_SHOWN, shortened
from codeagent.memory.working import groups

RUNG = 4
_NEWEST = 5
_LENGTHS = (2_000, 500)
"""Characters to which results that stay are cut, one after the other."""


@dataclass(frozen=True, slots=True)
class Hard:
    """Whatever brings the request under the hard limit while it loses least. Never asked for but in need."""

    parts: Parts
    folding: Folding

    async def propose(self, job: Job) -> Compaction | None:
        """None when the request can be sent.

        Raises:
            ContextOverflow: nothing brings it under the limit; the sentence says what takes the room.
        """
        scale = Scale.of(job, self.parts)
        if not scale.pressing:
            return None
        most, plans = min(scale.budget.hard_limit, job.tokens), self._plans(job.view.entries)
        for limit, ask in ((scale.limit, True), (most, True), (most, False)):
            if job.need.ask and not ask:
                job = unasked(job, "there is no room for one")
            for plan in plans:
                draft = self.folding.draft(job, plan)
                if self.folding.predicted(replace(scale, job=job), draft) >= limit:
                    continue
                if not self.folding.pays(job, draft):
                    continue
                try:
                    made = await self.folding.fold(job, draft)
                except NoSummary as error:  # one summary is asked for, not one a plan
                    job = unasked(job, str(error))
                    continue
                if made:
                    return made
        raise too_large(job, scale)

    def _plans(self, entries: Sequence[Entry]) -> list[Plan]:
        all = groups(entries)
        plans = []
        for length in _LENGTHS:
            for kept in range(min(_NEWEST, len(all)), -1, -1):
                cut = len(entries) - sum(map(len, all[len(all) - kept :]))
                if cut:
                    plans.append(self._plan(entries, cut, length))
        return plans

    def _plan(self, entries: Sequence[Entry], cut: int, length: int) -> Plan:
        tail, saved = [], 0
        for entry in entries[cut:]:
            if (shorter := self._shorter(entry, length)) is not None:
                tail.append(shorter)
                saved += entry.tokens - self.parts.estimate(encode(shorter.message))
        return Plan(RUNG, cut, tuple(tail), saved)

    def _shorter(self, entry: Entry, length: int) -> Replacement | None:
        if entry.said is None or not isinstance(entry.message, UserMessage):
            return shortened(entry, length, self.parts.estimate)
        message = unseen(entry.message, NO_LONGER_SHOWN)
        text = message.text
        if (at := text.find(entry.said)) >= 0:
            beside = without_pastes(text[at + len(entry.said) :], entry.id)
            text = text[:at] + self.folding.typed(entry) + beside
        if text == message.text and not entry.message.images:
            return None
        return Replacement(UserMessage(text), of=(entry.id,), id=entry.id)


def too_large(job: Job, scale: Scale) -> ContextOverflow:
    parts = "{fixed:,} of them are system prompt and tool descriptions, {messages:,} messages that cannot shrink."
    refused = "The endpoint refuses a request of about {tokens:,} tokens as too long: "
    counted = "The next request would take {tokens:,} tokens and {limit:,} fit: "
    return ContextOverflow(
        (refused if job.need.overflow else counted) + parts,
        tokens=job.tokens,
        limit=scale.budget.hard_limit,
        fixed=scale.fixed,
        messages=max(0, job.tokens - scale.fixed),
        hint="Shorten CODEAGENT.md and the task memory, use a model with a larger window, set context_window if it is "
        "known to be larger, or begin anew with /clear.",
    )
