"""What the history holds: entries, the prompt before them, usage, and the value by which a compaction is proposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codeagent.core.messages import Message

Origin = Literal["user", "model", "tool", "steer", "hook", "summary", "system"]
PromptReason = Literal["start", "resume", "compaction", "clear", "rewind", "undo", "model", "tools"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the history with what belongs to it."""

    id: str
    """"m1", "m2", ...: unique in the session, never used again."""
    turn: int
    """Number of the user turn it belongs to, from 1."""
    message: Message
    wire: bytes
    """The message as journal and request carry it."""
    tokens: int
    """Estimate for `wire` alone."""
    origin: Origin
    said: str | None = None
    """For user messages: what the person typed, without what was injected."""
    piped: bool = False
    """Nothing of `said` was typed: it came through a pipe, and is no wish of the person's to be remembered."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands before the messages in every request: one system text and the tool schemas."""

    system: str
    tools: bytes = b"[]"
    """JSON array of tool schemas in chat-completions form, serialized once."""
    digest: str = ""
    """Digest of the pinned block ("" while there is none)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reported them."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session has used up so far."""

    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    """None once the price of something is not known."""

    def plus(self, usage: Usage, cost_usd: float | None) -> Spent:
        return Spent(
            self.replies + 1,
            self.prompt_tokens + usage.prompt_tokens,
            self.completion_tokens + usage.completion_tokens,
            self.cached_tokens + usage.cached_tokens,
            None if self.cost_usd is None or cost_usd is None else self.cost_usd + cost_usd,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Replacement:
    """A message that takes the place of others in the prompt."""

    message: Message
    of: tuple[str, ...] = ()
    """Ids it stands for. It is put where the first of them stood; with none, right behind the replacement before it."""
    id: str | None = None
    """Kept id for a masked message; None lets the history give a new one."""


@dataclass(frozen=True, slots=True)
class Need:
    """Why the history is to be made smaller."""

    tokens: int
    """Size of the next request as it stands."""
    force: bool = False
    """The person asks for it: be content with less to gain."""
    focus: str | None = None
    """What the person wants a summary to dwell on."""
    overflow: bool = False
    """The provider refused the request as too long, whatever we count."""
    ask: bool = True
    """Whether a model may be asked now."""
    unasked: str = ""
    """Why it may not."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A proposal to fold the history, and, once folded, the receipt of it.

    Entries that no `of` names stay as they are.
    """

    id: str
    rung: int
    first_kept: str
    """First message kept untouched behind the last replaced one ("" when none is)."""
    messages: tuple[Replacement, ...]
    tokens_before: int
    tokens_after: int
    left: tuple[str, ...] = ()
    """Ids of the messages that left the prompt."""
    repaired: tuple[str, ...] = ()
    """Agreements that the model's summary did not hold and code put back."""
    coverage: float | None = None
    """Share of what must be kept that the summary held by itself; None where nothing was compared."""
    digest: str = ""
    """Digest of the pinned block in the prompt that was rebuilt with it; given when it is folded."""
    focus: str | None = None
    held: int = 0
    """Agreements with the person that stand in the messages word for word."""
    unheld: tuple[str, ...] = ()
    """Those that stand there no more: recall finds them."""
    failure: str = ""
    """Why no model's summary is in it ("" where there is one, or none was wanted)."""
