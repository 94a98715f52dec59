"""Subagents: what kinds there are, and how a tool has one do a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AgentKind:
    """What a subagent is for, and with what it does it."""

    name: str
    description: str
    prompt: str
    """How it works: joins its system prompt."""
    tools: tuple[str, ...] | None = None
    """Names of the tools it may have; None for all that a subagent can have."""
    reads_only: bool = False
    """Of its tools, only those that change nothing."""
    model: str = ""
    """"" for that of the session."""
    source: str = ""
    """File that defines it ("" for what is built in)."""


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a job."""

    text: str
    """The subagent's last words."""
    failed: str = ""
    """Why they are not the end of the job ("" when they are)."""
    transcript: str = ""
    """Id under which `recall` gives all that it did."""
    steps: int = 0
    tokens: int = 0
    """In and out together, over all steps."""


class Agents(Protocol):
    """The subagents of a session."""

    def kinds(self) -> Sequence[AgentKind]:
        """The kinds there are now; no two have one name."""
        ...

    async def run(self, kind: AgentKind, prompt: str, progress: Callable[[str], None]) -> Report:
        """Have a subagent do what `prompt` says; `progress` is told its steps, a line each.

        Cancelled, it stops what the subagent is doing, and reports how far that had come where it had begun.

        Raises:
            CodeAgentError: it cannot begin.
        """
        ...
