"""What matters least is left out first, without a model call."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from codeagent.memory.importance import importance
from codeagent.memory.rungs.base import Parts, Rung, Strategy
from codeagent.memory.strategies._dropping import dropping
from codeagent.memory.working import Group, WorkingMemory, is_user


def choose(groups: Sequence[Group], memory: WorkingMemory, held: Collection[int]) -> Sequence[int]:
    """What fits once the groups of least weight have gone, of equals the older first."""
    weights = _weights(groups)
    sizes = [memory.size(group) for group in groups]
    over = sum(sizes) - memory.budget
    gone: set[int] = set()
    for place in sorted(set(range(len(groups))) - set(held), key=lambda place: (weights[place], place)):
        if over <= 0 and over + sum(sizes[bridge] for bridge in _bridges(groups, gone, sizes)) <= 0:
            break
        gone.add(place)
        over -= sizes[place]
    gone -= _bridges(groups, gone, sizes)
    return [place for place in range(len(groups)) if place not in gone]


def _bridges(groups: Sequence[Group], gone: Collection[int], sizes: Sequence[int]) -> set[int]:
    """Of what has gone between two messages of the user, the smallest that keeps them from standing side by side."""
    bridges: set[int] = set()
    stay = [place for place in range(len(groups)) if place not in gone]
    for one, other in pairwise(stay):
        between = [place for place in range(one + 1, other) if not is_user(groups[place])]
        if between and is_user(groups[one]) and is_user(groups[other]):
            bridges.add(min(between, key=sizes.__getitem__))
    return bridges


def _weights(groups: Sequence[Group]) -> list[float]:
    """A group weighs what the most important of its messages weighs."""
    total, index, weights = sum(map(len, groups)), 0, []
    for group in groups:
        weights.append(max(importance(entry.message, index + at, total) for at, entry in enumerate(group)))
        index += len(group)
    return weights


def _rungs(parts: Parts) -> Sequence[Rung]:
    return dropping(parts, choose)


STRATEGY = Strategy("importance", _rungs)
