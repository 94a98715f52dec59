"""The default: the ladder, cheapest rung first."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.memory.rungs.base import Parts, Rung, Strategy
from codeagent.memory.rungs.classic import Classic
from codeagent.memory.rungs.fold import Folding
from codeagent.memory.rungs.hard import Hard
from codeagent.memory.rungs.mask import Mask
from codeagent.memory.rungs.summarise import Summarise
from codeagent.memory.rungs.within import FoldWithin


def _rungs(parts: Parts) -> Sequence[Rung]:
    if parts.mode == "classic":
        return (Classic(parts),)
    folding = Folding(parts)
    return (
        *((Mask(parts),) if parts.mask else ()),
        Summarise(parts, folding),
        *((Mask(parts, by_groups=True),) if parts.mask else ()),
        FoldWithin(parts, folding),
        Hard(parts, folding),
    )


STRATEGY = Strategy("summary", _rungs)
