"""What matters least is left out first, without a model call."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codeagent.memory.importance import importance
from codeagent.memory.rungs.base import Parts, Rung, Strategy
from codeagent.memory.strategies._dropping import Dropping
from codeagent.memory.working import Group, WorkingMemory


def choose(groups: Sequence[Group], memory: WorkingMemory, held: Collection[int]) -> Sequence[int]:
    """What fits once the groups of least weight have gone, of equals the older first."""
    weights = _weights(groups)
    over = sum(map(memory.size, groups)) - memory.budget
    gone = set()
    for place in sorted(range(len(groups)), key=weights.__getitem__):
        if over <= 0:
            break
        if place not in held:
            gone.add(place)
            over -= memory.size(groups[place])
    return [place for place in range(len(groups)) if place not in gone]


def _weights(groups: Sequence[Group]) -> list[float]:
    """A group weighs what the most important of its messages weighs."""
    total, index, weights = sum(map(len, groups)), 0, []
    for group in groups:
        weights.append(max(importance(entry.message, index + at, total) for at, entry in enumerate(group)))
        index += len(group)
    return weights


def _rungs(parts: Parts) -> Sequence[Rung]:
    return (Dropping(parts, choose),)


STRATEGY = Strategy("importance", _rungs)
