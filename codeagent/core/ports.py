"""The Protocols by which rooms meet that may not import each other. `app.py` hands one to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from codeagent.core.entries import Compaction, Entry, Need, Prompt, Usage
from codeagent.core.events import CallDelta, Notice, ReasoningDelta, Retrying, TextDelta
from codeagent.core.messages import AssistantMessage
from codeagent.core.tools import Action

Purpose = Literal["turn", "summary", "compress", "aside"]
"""summary: of the history, when it is compacted; compress: of short-term memory, in the background; aside: a question
that stays out of the conversation."""

# ---- a model -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """One chat completion: messages and tools are already serialized, the client only joins them."""

    model: str
    messages: Sequence[bytes]
    tools: bytes = b"[]"
    max_tokens: int | None = None
    effort: str | None = None
    purpose: Purpose = "turn"
    """Never sent: it tells a scripted model which of its answers is wanted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of a stream that is whole. `finish` is the endpoint's word, kept for the record and not believed."""

    message: AssistantMessage
    usage: Usage | None = None
    finish: str = "stop"
    cut: bool = False
    """The reply ran into its length limit."""
    broken_calls: frozenset[str] = frozenset()
    """Ids of calls whose arguments were cut and must not run."""
    model: str = ""
    """Who answered in the place of the model that was asked ("" where it did itself)."""
    cost_usd: float | None = None
    """What that one's answer cost, as far as it is known."""


StreamItem = TextDelta | ReasoningDelta | CallDelta | Retrying | Notice | Reply


class Provider(Protocol):
    """Talks to one endpoint."""

    async def warm(self) -> None:
        """Load what the first request needs, so that it need not wait for it; never raises, and may be left out."""
        ...

    def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        """Deltas as they come, then exactly one `Reply`.

        Raises:
            CodeAgentError: of the `ModelError` family; an incomplete stream is an `IncompleteReply`.
        """
        ...

    async def aclose(self) -> None: ...


Summarize = Callable[[Sequence[bytes], bytes, str], Awaitable[str]]
"""(serialized messages, serialized tools, instruction) -> summary text, "" when the model gave none.

Messages and tools are those of the session's own requests, so that the provider's cache is read. Raises CodeAgentError.
"""

Estimate = Callable[[bytes], int]
"""Tokens of serialized text."""

# ---- what was said -------------------------------------------------------------------------------------------------


class HistoryView(Protocol):
    """The history as others may see it: the message list of the next request, never to be changed from outside."""

    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def prompt(self) -> Prompt: ...
    @property
    def turn(self) -> int: ...


class Observer(Protocol):
    """Is told what happens to the history, once it is on disk. It is quick and never raises."""

    def appended(self, entry: Entry) -> None: ...
    def cleared(self) -> None:
        """The conversation begins anew."""
        ...

    def taken_back(self, ids: Collection[str]) -> None:
        """The person went back to before these messages."""
        ...


class Archive(Protocol):
    """Whole tool outputs, kept beside the session file."""

    @property
    def folder(self) -> Path: ...

    def put(self, call_id: str, text: str | Iterable[str]) -> str:
        """Store `text`, or its pieces, return its id: the name of a file in `folder`. Raises StoreError."""
        ...

    def put_file(self, name: str, ending: str, data: bytes) -> str:
        """Store `data` as `put` does, in a file whose name begins with `name`. Raises StoreError."""
        ...


# ---- memory --------------------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Turns texts into vectors: the smaller the angle between two, the more alike what they say."""

    @property
    def name(self) -> str:
        """Of the model and where it is; vectors of different names cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        """One vector a text, all of one length and none of them zero; a query is asked of passages.

        Raises:
            ModelError: there are none to be had.
        """
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a fact. `state`: saved, replaced (same key), known (already there), refused."""

    state: Literal["saved", "replaced", "known", "refused"]
    id: str
    message: str
    """One sentence for the person and the model."""

    def __str__(self) -> str:
        """The sentence, and the id by which the fact is shown, changed and taken back."""
        return f"{self.message}  [{self.id}]" if self.id else self.message


LONGEST_FACT = 2_000
"""Characters of a fact at most: a fact is a sentence or two, a longer text belongs into a file."""


class FactStore(Protocol):
    """The entrance to long-term memory for the save_memory tool (and /save): nothing else writes facts."""

    def save(
        self,
        content: str,
        *,
        scope: Literal["project", "global"] = "project",
        type: str | None = None,
        key: str | None = None,
        by: Literal["user", "tool"] = "user",
        quote: str = "",
    ) -> Saved: ...

    def intends(self, said: str, content: str) -> bool:
        """Whether the message as typed asks to remember this fact (a word of intent and a shared content word; where
        it only points, the fact stands in an earlier message of the person)."""
        ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """Facts that were found for a message, rendered as the block that travels to the model ("" when none)."""

    text: str
    ids: tuple[str, ...] = ()


class Memory(Protocol):
    """The facade the agent knows (`memory.manager.MemoryManager`)."""

    async def prepare(self, said: str) -> None:
        """Do what makes finding facts for `said` slow; awaited before `recall`. Never raises."""
        ...

    def recall(self, said: str) -> Recalled:
        """What is to stand at the head of the message: facts relevant to it that are not in the context yet,
        which count as injected from then on, and what no longer holds of those that are."""
        ...

    def safe_point(self) -> None:
        """The prompt is about to be rebuilt: only what stands at the heads of messages still counts as injected."""
        ...

    def pinned(self) -> str:
        """Digest of the block that stands at the start of a prompt built now ("" when there is none)."""
        ...

    async def compact(self, view: HistoryView, need: Need) -> Compaction | None:
        """A smaller form of the history, or None when there is nothing to gain.

        Raises:
            ContextOverflow: nothing makes the request small enough.
            CodeAgentError: the summary failed; the history stays as it is.
        """
        ...


# ---- tools ---------------------------------------------------------------------------------------------------------


class Files(Protocol):
    """Which files the model has read, and in which state: edits of unread or changed files are refused."""

    def note(self, path: Path) -> None:
        """The model has now seen `path` as it is on disk."""
        ...

    def state(self, path: Path) -> Literal["unread", "changed", "current"]: ...
    def content(self, path: Path) -> bytes | None:
        """What the model has seen of `path`, where it is still kept."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    allowed: bool
    reason: str = ""
    """For the model, when not allowed."""


class Permission(Protocol):
    async def check(self, action: Action) -> Verdict:
        """Judge by mode and rules; ask the person where they do not decide."""
        ...

    def refused(self, action: Action, reason: str) -> None:
        """What was allowed was refused later: the tool itself had to ask, and the answer was no."""
        ...


class Checkpoints(Protocol):
    """What tools change can be taken back."""

    def around(self, action: Action) -> AbstractAsyncContextManager[None]:
        """What `action` does within is saved before, and recorded after."""
        ...


class Planning(Protocol):
    """Plan mode, as the tool that ends it sees it."""

    @property
    def planning(self) -> bool: ...

    def approved(self, *, edits: bool) -> None:
        """The person approved the plan: leave plan mode, with `edits` for the mode that accepts edits."""
        ...


# ---- plug-ins ------------------------------------------------------------------------------------------------------


class Lessons(Protocol):
    """What endpoints have taught about their models, by place; quick, and never raises."""

    def of(self, place: str) -> Mapping[str, Any]: ...

    def learn(self, place: str, lessons: Mapping[str, Any]) -> None:
        """Keep `lessons` in the place of what was known."""
        ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how to speak to it."""

    base_url: str
    api_key: str
    model: str
    connect_timeout: float = 15.0
    first_token_timeout: float = 300.0
    idle_timeout: float = 120.0
    max_retries: int = 5
    extra: tuple[tuple[str, Any], ...] = ()
    key_source: str = ""
    """Where the key came from, for the person: a variable, a file ("" when that is not known)."""
    lessons: Lessons | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """Where and what: the name under which something is learnt of the model."""
        return f"{self.base_url} {self.model}".strip()


@dataclass(frozen=True, slots=True)
class ProviderKind:
    """What a file in `llm/providers/` exports as PROVIDER."""

    name: str
    open: Callable[[Endpoint], Provider]
