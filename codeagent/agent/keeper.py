"""Who is told of what happens in a conversation and may add to it: task memory, where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codeagent.core.entries import Compaction, Usage
from codeagent.core.events import Notice


class Keeper(Protocol):
    async def opening(self, said: str, *, fresh: bool) -> list[str]:
        """What stands at the head of the user message `said`; `fresh`: the prompt is about to be rebuilt."""
        ...

    async def compacted(self, receipt: Compaction) -> None:
        """The history was folded and the prompt rebuilt."""
        ...

    def replied(self, text: str, usage: Usage | None, *, grown: bool) -> None:
        """The reply `text` came; `grown`: since the one before, the history has only been added to."""
        ...

    async def foreign(self) -> Sequence[Notice]:
        """What to say when somebody else has cut the context."""
        ...


class NoKeeper:
    """Implements `Keeper` for a conversation that keeps nothing."""

    async def opening(self, said: str, *, fresh: bool) -> list[str]:
        return []

    async def compacted(self, receipt: Compaction) -> None:
        """Nothing follows it."""

    def replied(self, text: str, usage: Usage | None, *, grown: bool) -> None:
        """Nothing counts it."""

    async def foreign(self) -> Sequence[Notice]:
        return ()
