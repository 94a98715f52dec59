"""A window that slides: the oldest groups are left out, without a model call."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codeagent.memory.rungs.base import Parts, Rung, Strategy
from codeagent.memory.strategies._dropping import dropping
from codeagent.memory.working import Group, WorkingMemory


def choose(groups: Sequence[Group], memory: WorkingMemory, held: Collection[int]) -> Sequence[int]:
    """The newest groups that fit beside those that are held."""
    return memory.select(groups, held)


def _rungs(parts: Parts) -> Sequence[Rung]:
    return dropping(parts, choose)


STRATEGY = Strategy("sliding_window", _rungs)
