"""What strategies without a model share: which groups may go, how far to go, and the record of what went.

Where leaving groups out is not enough for the request to be sent, the ladder's hard rung is climbed, without a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from codeagent.core.entries import Compaction, Replacement
from codeagent.core.messages import UserMessage, encode
from codeagent.memory.rungs.base import Job, Parts, Rung, Scale
from codeagent.memory.rungs.fold import Folding
from codeagent.memory.rungs.hard import Hard
from codeagent.memory.working import Group, WorkingMemory, groups, is_open, is_user

RUNG = 0
NOTE = (
    "[Earlier messages of this conversation were left out here to free the context; "
    "recall finds them, by words or by id.]\n\n"
)


Choose = Callable[[Sequence[Group], WorkingMemory, Collection[int]], Sequence[int]]
"""One strategy: (groups, room, places that stay in any case) -> places that stay, in order."""


def dropping(parts: Parts, choose: Choose) -> Sequence[Rung]:
    """The rungs of a strategy that leaves out what it does not `choose`."""
    return (Dropping(parts, choose), Hard(parts, Folding(parts, asks=False)))


@dataclass(frozen=True, slots=True)
class Dropping:
    """Leaves whole groups out. The user's words of this turn and the newest group always stay."""

    parts: Parts
    choose: Choose

    async def propose(self, job: Job) -> Compaction | None:
        """None where nothing may go, or not enough for a request that cannot be sent."""
        all = groups(job.view.entries)
        asked = [place for place, group in enumerate(all) if is_user(group)]
        if not asked or is_open(all[-1]):
            return None
        turn = all[asked[-1]][0].turn
        held = [place for place in asked if all[place][0].turn == turn]
        request = all[held[0]][0]
        kept = [all[place] for place in self.choose(all, self._memory(job), (*held, len(all) - 1))]
        while not is_user(kept[0]):  # what an endpoint is sent begins with the user
            del kept[0]
        stays = {entry.id for group in kept for entry in group}
        gone = [entry for entry in job.view.entries if entry.id not in stays]
        assert isinstance(request.message, UserMessage)
        noted = replace(request.message, text=NOTE + request.message.text.removeprefix(NOTE))
        freed = sum(entry.tokens for entry in gone) + request.tokens - self.parts.estimate(encode(noted))
        scale = Scale.of(job, self.parts)
        after = scale.after(freed)
        if not gone or freed <= 0 or (scale.pressing and after > scale.limit):
            return None
        ids = tuple(entry.id for entry in gone)
        return Compaction(
            id=self.parts.new_id(),
            rung=RUNG,
            first_kept=_behind(job, gone[-1].id),
            messages=(Replacement(noted, of=(request.id, *ids), id=request.id),),
            tokens_before=job.tokens,
            tokens_after=after,
            left=ids,
            focus=job.need.focus,
        )

    def _memory(self, job: Job) -> WorkingMemory:
        """Room for the messages, so that several steps fit before the next compaction; asked for: half at most."""
        messages = sum(entry.tokens for entry in job.view.entries)
        room = WorkingMemory(self.parts.budget.target, system=max(0, job.tokens - messages))
        if job.need.force and messages // 2 < room.budget:
            return WorkingMemory(messages // 2)
        return room


def _behind(job: Job, id: str) -> str:
    """Id of the message behind the last that leaves ("" when there is none)."""
    ids = [entry.id for entry in job.view.entries]
    return next(iter(ids[ids.index(id) + 1 :]), "")
