"""The default: the ladder, which ends in a summary."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.memory.rungs.base import Parts, Rung, Strategy
from codeagent.memory.rungs.summarise import Summarise, style


def _rungs(parts: Parts) -> Sequence[Rung]:
    return (Summarise(parts.summarize, parts.estimate, style(parts.mode), parts.new_id, keep_turns=parts.keep_turns),)


STRATEGY = Strategy("summary", _rungs)
