"""What is happening now: frozen values that pass from the loop to whoever shows them.

Sentences in events are templates with arguments, like those of errors: ui and cli translate and fill them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from codeagent.core.entries import Compaction, Usage
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.tools import ToolResult

EndReason = Literal["done", "interrupted", "limit", "failed"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A model call begins; `prompt_tokens` is the estimate for its request."""

    step: int
    prompt_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A tool call is being written; `size` counts the characters of its arguments so far."""

    index: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Retrying:
    """The request failed in passing and is tried again after `wait` seconds; what was streamed of it is void."""

    error: CodeAgentError
    attempt: int
    attempts: int
    wait: float
    skip: Callable[[], None] = field(default=lambda: None, compare=False)
    """Ends the wait at once."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The reply is whole and on disk."""

    id: str
    message: AssistantMessage
    usage: Usage | None
    seconds: float
    truncated: bool = False
    """The reply ran into its length limit."""
    cut: frozenset[str] = frozenset()
    """Ids of calls whose arguments were cut by that: they do not run."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall
    title: str


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A piece of what a running tool prints."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call: ToolCall
    title: str
    result: ToolResult
    seconds: float


@dataclass(frozen=True, slots=True)
class Compacting:
    tokens: int


@dataclass(frozen=True, slots=True)
class Compacted:
    receipt: Compaction


@dataclass(frozen=True, slots=True)
class Steered:
    """A message typed during the turn has joined the history."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know; `level` only colours it."""

    message: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    level: Literal["info", "warning", "error"] = "info"

    def __str__(self) -> str:
        return self.message.format(**self.arguments) if self.arguments else self.message


def told(receipt: Compaction) -> Notice:
    """A compaction in one line."""
    message = "Context compacted: {before} → {after} tokens"
    if receipt.held:
        message += "; {held} agreement held" if receipt.held == 1 else "; {held} agreements held"
        message += ", {back} put back" if receipt.repaired else ""
    if receipt.unheld:
        message += (
            "; {unheld} not held, recall finds them" if len(receipt.unheld) > 1 else "; 1 not held, recall finds it"
        )
    if receipt.failure:
        message += "; no summary: {failure}"
    arguments = {
        "before": _thousands(receipt.tokens_before),
        "after": _thousands(receipt.tokens_after),
        "held": receipt.held,
        "back": len(receipt.repaired),
        "unheld": len(receipt.unheld),
        "failure": receipt.failure.rstrip("."),
    }
    return Notice(message + "; /compact show", arguments)


def _thousands(tokens: int) -> str:
    return str(tokens) if tokens < 1_000 else f"{tokens / 1_000:.1f}k"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    reason: EndReason
    steps: int
    seconds: float
    error: CodeAgentError | None = None


Event = (
    TurnStarted
    | StepStarted
    | TextDelta
    | ReasoningDelta
    | CallDelta
    | Retrying
    | Replied
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | Compacting
    | Compacted
    | Steered
    | Notice
    | TurnEnded
)
