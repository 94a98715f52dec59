"""What rungs 2 to 4 share: everything before a cut becomes one message, a record made by code and a model's summary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.entries import Compaction, Entry, Replacement
from codeagent.core.messages import AssistantMessage, Message, UserMessage, encode, unseen
from codeagent.memory import ledger
from codeagent.memory.ledger import MARK, SUMMARY, Ledger
from codeagent.memory.pastes import own, without_pastes
from codeagent.memory.rungs.asking import NoSummary, ask
from codeagent.memory.rungs.base import Job, Parts, Scale
from codeagent.memory.rungs.holding import QUOTED, agreements, told
from codeagent.memory.rungs.mask import NO_LONGER_SHOWN
from codeagent.memory.verify import missing, values

ACKNOWLEDGEMENT = "Understood. I go on from there."
_NO_SUMMARY = "(none: no model could be asked; the record above is what is left, and recall finds the rest)"
_LENGTH = 1_500
"""Tokens that a summary is thought to take at most."""
_GOAL = re.compile(r"\s*(.{1,200}?)(?:[.。！!?？](?=\s|$)|\n|$)|", re.S)
"""What a message begins with."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to cut, and what becomes shorter behind the cut."""

    rung: int
    cut: int
    """Place of the first message that stays."""
    tail: tuple[Replacement, ...] = ()
    saved: int = 0
    """Estimated tokens that the shorter tail saves."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan with its record, before a model is asked."""

    plan: Plan
    head: Sequence[Entry]
    request: Entry | None
    """The user message of the running turn where the cut lies inside of it: its words stay."""
    words: str
    record: str
    ledger: Ledger
    """All that the record could hold; what did not fit is left to its ids."""
    earlier: str
    """Summaries that are in the head already."""
    acknowledged: bool
    alone: bool
    """The summary stands without the record."""

    def messages(self, summary: str) -> tuple[Message, ...]:
        record = "" if self.alone else f"{self.record}\n\n"
        text = f"{MARK}\n{record}{SUMMARY}\n{summary.replace(MARK, '')}"
        first = UserMessage(f"{self.words}\n\n{text}" if self.request else text)
        return (first, AssistantMessage(ACKNOWLEDGEMENT)) if self.acknowledged else (first,)


class Folding:
    """Drafts a fold, predicts its size, and carries it out."""

    def __init__(self, parts: Parts, *, asks: bool = True) -> None:
        """Where it never `asks` a model, the record stands alone."""
        self._parts = parts
        self._asks = asks
        self._trigger = parts.budget.trigger
        self._typed: dict[str, str] = {}
        """What was typed, without pastes, by message: looking for them in a long one takes its time."""
        prompt = Path(__file__).parent.parent / "prompts" / "summary.md"
        self._instruction = prompt.read_text(encoding="utf-8").strip()
        if (room := self._trigger // 8) < _LENGTH:
            self._instruction += f"\n\nThe window is small: write {room // 2} words at most."

    def draft(self, job: Job, plan: Plan) -> Draft:
        entries = job.view.entries
        head, tail = entries[: plan.cut], entries[plan.cut :]
        request = _request(head, tail)
        # Where little is left beside what stands before the messages, the record must leave room for them.
        room = max(0, self._parts.budget.hard_limit - Scale.of(job, self._parts).fixed)
        whole = ledger.ledger(head, tail, request, self.typed)
        _, record = ledger.render(
            whole,
            self._tokens,
            min(self._trigger // 4, room // 2),
            min(self._trigger // 16, room // 8),
        )
        opens = isinstance(tail[0].message, UserMessage) if tail else request is None
        earlier = "\n\n".join(text for entry in head if (text := ledger.split(entry.message.text)[2]))
        alone = not self._parts.verify
        return Draft(plan, head, request, self._words(request), record, whole, earlier, opens, alone)

    def typed(self, entry: Entry) -> str:
        """What the person typed, pastes left out."""
        if entry.id not in self._typed:
            self._typed[entry.id] = without_pastes(entry.said or "", entry.id)
        return self._typed[entry.id]

    def gone(self, draft: Draft) -> int:
        """Estimated tokens that leave, before what comes for them."""
        return sum(entry.tokens for entry in draft.head) + draft.plan.saved

    def predicted(self, scale: Scale, draft: Draft) -> int:
        """Tokens of the request when the draft is carried out, with a summary of the usual length if one is asked."""
        gone = self.gone(draft)
        if not (self._asks and scale.job.need.ask):
            return scale.after(gone, self._size(replace(draft, alone=False).messages(_NO_SUMMARY)))
        return scale.after(gone, self._size(draft.messages("")) + min(_LENGTH, self._trigger // 8, gone // 4))

    def pays(self, job: Job, draft: Draft) -> bool:
        """Whether there is more in the head than an earlier summary, and enough to gain."""
        scale = Scale.of(job, self._parts)
        least = 0 if job.need.force or scale.pressing else scale.worth
        if not draft.plan.tail and all(entry.origin == "summary" for entry in draft.head):
            return False
        return job.tokens - scale.after(self.gone(draft), self._size(draft.messages(""))) > least

    async def fold(self, job: Job, draft: Draft) -> Compaction | None:
        """The proposal; None where it does not pay, or what stands for the summary is too long.

        Raises:
            NoSummary: there is no good one, and the request can be sent as it is or the record alone is too long.
        """
        scale = Scale.of(job, self._parts)
        if not self.pays(job, draft):
            return None
        if not self._asks:
            return self._recorded(job, scale, draft, "")
        if not job.need.ask:
            return self._recorded(job, scale, draft, job.need.unasked) if scale.pressing else None
        try:
            summary = await self._summary(job, draft)
        except NoSummary as error:
            made = self._recorded(job, scale, draft, str(error)) if scale.pressing else None
            if made is None:
                raise
            return made
        made = self._proposal(job, scale, draft, summary)
        return made if draft.alone else self._verified(made, job, draft, summary)

    def _recorded(self, job: Job, scale: Scale, draft: Draft, failure: str) -> Compaction | None:
        """The record alone, and why; None where it is no shorter than what it stands for."""
        draft = replace(draft, alone=False)
        if self._size(draft.messages(text := self._fallback(scale, draft))) >= self.gone(draft):
            return None
        return replace(self._verified(self._proposal(job, scale, draft, text), job, draft, ""), failure=failure)

    async def _summary(self, job: Job, draft: Draft) -> str:
        summary = await ask(self._parts.summarize, job, draft.head, self._instruction)
        scale, gone = Scale.of(job, self._parts), self.gone(draft)
        size = self._size(draft.messages(summary))
        most = scale.budget.hard_limit if scale.pressing else max(scale.limit, job.tokens - scale.worth)
        if size >= gone or (not job.need.force and scale.after(gone, size) > most):
            raise NoSummary("The summary came out no smaller than what it stands for.")
        return summary

    def _fallback(self, scale: Scale, draft: Draft) -> str:
        """What stands for a summary that could not be had: the one before, where there is room for it."""
        size = self._size(draft.messages(draft.earlier))
        fits = scale.after(self.gone(draft), size) <= scale.budget.trigger
        return draft.earlier if draft.earlier and fits else _NO_SUMMARY

    def _proposal(self, job: Job, scale: Scale, draft: Draft, summary: str) -> Compaction:
        first, *rest = draft.messages(summary)
        entries, ids = job.view.entries, tuple(entry.id for entry in draft.head)
        replaced = {id for item in draft.plan.tail for id in item.of}
        return Compaction(
            id=self._parts.new_id(),
            rung=draft.plan.rung,
            first_kept=next((entry.id for entry in entries[draft.plan.cut :] if entry.id not in replaced), ""),
            messages=(
                Replacement(first, of=ids, id=draft.request.id if draft.request else None),
                *(Replacement(message) for message in rest),
                *draft.plan.tail,
            ),
            tokens_before=job.tokens,
            tokens_after=scale.after(self.gone(draft), self._size((first, *rest))),
            left=tuple(id for id in ids if draft.request is None or id != draft.request.id),
            focus=job.need.focus,
        )

    def _verified(self, made: Compaction, job: Job, draft: Draft, summary: str) -> Compaction:
        """The proposal with what the comparison of the model's summary ("" for none) and the record told."""
        made = told(made, job.view.entries, draft.ledger.agreements)
        agreed = list(dict.fromkeys([*agreements(draft.head), *draft.ledger.agreements]))
        wanted = [*agreed, *self._named(draft)]
        lost = {one[:QUOTED] for one in made.unheld}
        repaired = (one[:QUOTED] for one in missing(agreed, summary))
        return replace(
            made,
            repaired=tuple(one for one in repaired if one not in lost),
            coverage=1 - len(missing(wanted, summary)) / len(set(wanted)) if wanted else None,
        )

    def _named(self, draft: Draft) -> list[str]:
        """What a summary must hold beside agreements: the goal, changed files, and what the person named."""
        typed = [words.text for words in draft.ledger.words]
        if draft.request is not None:
            typed.append(self.typed(draft.request))
        goals = (found[1] for text in typed[:1] if (found := _GOAL.match(own(text))) and found[1])
        return [*goals, *draft.ledger.modified, *(value for text in typed for value in values(text))]

    def _words(self, request: Entry | None) -> str:
        if request is None:
            return ""
        words = request.said if request.said is not None else ledger.split(request.message.text)[0]
        words = words if self._tokens(words) <= self._trigger // 3 else self.typed(request)
        pictures = request.message.images if isinstance(request.message, UserMessage) else ()
        return unseen(UserMessage(words, pictures), NO_LONGER_SHOWN).text

    def _tokens(self, text: str) -> int:
        return self._parts.estimate(text.encode("utf-8", "replace"))

    def _size(self, messages: Sequence[Message]) -> int:
        return sum(self._parts.estimate(encode(message)) for message in messages)


def _request(head: Sequence[Entry], tail: Sequence[Entry]) -> Entry | None:
    """The message that opened the turn which the cut divides."""
    if tail and tail[0].origin == "user":
        return None
    if not tail and isinstance(head[-1].message, AssistantMessage) and not head[-1].message.calls:
        return None
    return next((entry for entry in reversed(head) if entry.origin == "user"), None)
