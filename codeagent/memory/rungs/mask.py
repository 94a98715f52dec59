"""Rung 1: old tool results and pictures become one line each, without a model call. Pairs stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.core.entries import Compaction, Entry, Replacement
from codeagent.core.messages import Message, ToolMessage, UserMessage, encode, unseen
from codeagent.core.ports import Estimate
from codeagent.memory.ledger import ended
from codeagent.memory.rungs.base import Job, Parts, Scale, kept_from
from codeagent.memory.rungs.holding import told
from codeagent.memory.working import groups

RUNG = 1
NEWEST = 5
"""So many of the newest groups stay whole, as far as they fit."""
_WHOLE = re.compile(r"the whole is in (.+?) \(read_file")
_MASKED = re.compile(r"\[\d[\d,]* characters left out to free the context")
NO_LONGER_SHOWN = "left out to free the context; read_file shows it again"


@dataclass(frozen=True, slots=True)
class Mask:
    """Masks what stands before the newest turns, or with `by_groups` all but the newest groups, one at least."""

    parts: Parts
    by_groups: bool = False

    async def propose(self, job: Job) -> Compaction | None:
        """None when that is not enough to come well under the limit."""
        if job.need.force:
            return None
        scale = Scale.of(job, self.parts)
        made = (self._masked(job, scale, end) for end in self._ends(job))
        return next(filter(None, made), None)

    def _ends(self, job: Job) -> Iterator[int]:
        """Places up to which results may be masked, the most careful first."""
        entries = job.view.entries
        if not self.by_groups:
            yield kept_from(entries, self.parts.keep_turns + job.more_turns)
            return
        sizes = [len(group) for group in groups(entries)]
        for kept in range(min(NEWEST, len(sizes)), 0, -1):
            yield len(entries) - sum(sizes[-kept:])

    def _masked(self, job: Job, scale: Scale, end: int) -> Compaction | None:
        entries = job.view.entries
        freed, masked = 0, []
        for entry in entries[:end]:
            if (line := masked_line(entry)) is None:
                continue
            saved = entry.tokens - self.parts.estimate(encode(line))
            if saved > 0:
                freed += saved
                masked.append(Replacement(line, of=(entry.id,), id=entry.id))
        after = scale.after(freed)
        if not masked or after > scale.enough or job.tokens - after < scale.worth:
            return None
        ids = tuple(item.of[0] for item in masked)
        behind = [entry.id for entry in entries].index(ids[-1]) + 1
        made = Compaction(
            id=self.parts.new_id(),
            rung=RUNG,
            first_kept=entries[behind].id if behind < len(entries) else "",
            messages=tuple(masked),
            tokens_before=job.tokens,
            tokens_after=after,
            left=ids,
        )
        return told(made, entries) if self.parts.verify else made


def masked_line(entry: Entry) -> Message | None:
    """What stands for a result, or for a message with pictures; None for anything else, for what is masked already,
    and for what cannot be rewritten."""
    message = entry.message
    if isinstance(message, UserMessage):
        return unseen(message, NO_LONGER_SHOWN) if message.images else None
    if not isinstance(message, ToolMessage) or "." in entry.id or _MASKED.match(message.text):
        return None
    return ToolMessage(message.call_id, message.name, mask(message.text, entry.id))


def mask(text: str, id: str) -> str:
    """One line: how much is left out, how it ended, and where the whole is."""
    last = text.rstrip().rpartition("\n")[2]
    how = ended(text) or (last.strip("[]") if last.startswith("[") and len(last) < 60 else "")
    found = _WHOLE.search(text)
    end = f", {how}" if how else ""
    file = f"; the whole output is in {found[1]}" if found else ""
    return f'[{len(text):,} characters left out to free the context{end}; recall(id="{id}") gives them{file}]'


def shortened(entry: Entry, characters: int, estimate: Estimate) -> Replacement | None:
    """A result cut to its first third and its end, with the id of the whole, or a message without its pictures; None
    where that gains nothing."""
    message = entry.message
    if isinstance(message, UserMessage) and message.images:
        return Replacement(unseen(message, NO_LONGER_SHOWN), of=(entry.id,), id=entry.id)
    if not isinstance(message, ToolMessage) or "." in entry.id or len(message.text) <= characters:
        return None
    head, tail = message.text[: characters // 3], message.text[-(characters * 2 // 3) :]
    cut = ToolMessage(message.call_id, message.name, f"{head}\n{mask(message.text, entry.id)}\n{tail}")
    return Replacement(cut, of=(entry.id,), id=entry.id) if estimate(encode(cut)) < entry.tokens else None
