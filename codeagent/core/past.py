"""What was said and returned before, in this session and in earlier ones, as tools and commands may look it up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Near = Callable[[str, Sequence[str]], Awaitable[Sequence[float] | None]]
"""(query, passages) -> how near each lies in meaning, 1 for the nearest; None where that is not known. Never raises."""

Scope = Literal["session", "project", "all"]


@dataclass(frozen=True, slots=True)
class PastHit:
    """One message that was found."""

    id: str
    """What `Past.read` takes: "m12", behind "<session>/" where the session is another one."""
    session: str
    message: str
    """Id of the message in its session."""
    turn: int
    role: str
    """"user", "assistant", or the name of the tool that returned it."""
    at: float
    """When, in seconds since the epoch."""
    age: float
    """Seconds between then and the search."""
    snippet: str
    """The passage that fits best, with line breaks."""


@dataclass(frozen=True, slots=True)
class PastHits:
    hits: tuple[PastHit, ...]
    """Best first, from the offset asked for."""
    total: int
    """How many there are to page through; the best few hundred at most."""
    held: int = 0
    """Messages that fit too, and were left out because the context holds the passage as it is."""
    behind: int = 0
    """Bytes of session files that could not be searched yet."""


@dataclass(frozen=True, slots=True)
class PastPage:
    """A part of a text of `total` characters, from character `start` on."""

    text: str
    start: int
    total: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Past(Protocol):
    """Secrets are masked in all that it gives."""

    async def search(
        self, query: str, scope: Scope = "session", *, limit: int = 10, offset: int = 0, held: bool = False
    ) -> PastHits:
        """Messages that share words with `query`, those with all of it as it stands first.

        Args:
            held: also passages that the context of the session holds as they are.

        Raises:
            StoreError: the index cannot be read or made.
        """
        ...

    async def read(self, id: str, *, offset: int = 0, limit: int = 8_000) -> PastPage:
        """What an id stands for, whole: a message ("m12"), a turn ("t3"), a run of messages ("m3-m9"), what a
        compaction took out ("c1"), an archived tool result (its file's name or call id); each also in another
        session ("<session>/m12"). At most `limit` characters from `offset` on.

        Raises:
            UsageError: there is nothing of that id.
            SessionNotFound, StoreError
        """
        ...


def age(seconds: float) -> str:
    """Time gone by in its largest unit: "now", "5 min", "3 h", "12 d"."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"
