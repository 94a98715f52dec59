"""`ConversationMemory`: what was said in this session, bounded by tokens (MEMORY.md 3)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, ValuesView
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

Kind = Literal["user", "assistant", "tool", "summary"]


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One thing that was said, or the summary of several."""

    id: str
    """That of the message in the history; a summary has one of its own."""
    kind: Kind
    content: str
    tokens: int
    at: str = ""
    """When, as facts carry it."""


class ConversationMemory:
    """Entries in the order they came. Adding, evicting, finding and deleting take the same time at any size.

    Over the budget the oldest entry moves to the waiting room, `compressed_summaries`: set aside, to be compressed
    later. Its tokens no longer count, its data stay.
    """

    def __init__(self, budget: int | None = None) -> None:
        """`budget` in tokens; without one nothing is set aside."""
        self._budget = budget
        self._entries: OrderedDict[str, MemoryEntry] = OrderedDict()
        self._waiting: OrderedDict[str, MemoryEntry] = OrderedDict()
        self._tokens = 0

    @property
    def budget(self) -> int | None:
        return self._budget

    @property
    def tokens(self) -> int:
        """Of the entries, without the waiting room; never above the budget."""
        return self._tokens

    @property
    def entries(self) -> ValuesView[MemoryEntry]:
        """Oldest first; a view."""
        return self._entries.values()

    @property
    def compressed_summaries(self) -> ValuesView[MemoryEntry]:
        """The waiting room, oldest first; a view."""
        return self._waiting.values()

    def newest(self, count: int) -> list[MemoryEntry]:
        """The newest `count` entries, newest first."""
        return list(islice(reversed(self._entries.values()), count))

    def __iter__(self) -> Iterator[MemoryEntry]:
        """All that is known, oldest first: the waiting room, then the entries."""
        return chain(self._waiting.values(), self._entries.values())

    def __len__(self) -> int:
        return len(self._waiting) + len(self._entries)

    def get(self, id: str) -> MemoryEntry | None:
        """The entry of that id, wherever it is."""
        return self._entries.get(id) or self._waiting.get(id)

    def append(self, entry: MemoryEntry) -> None:
        """Add the newest entry; one of the same id gives way. What is over the budget moves to the waiting room."""
        self.delete(entry.id)
        self._entries[entry.id] = entry
        self._tokens += entry.tokens
        self._bound()

    def evict_oldest(self) -> MemoryEntry | None:
        """Move the oldest entry to the waiting room; None when there is none."""
        if not self._entries:
            return None
        id, entry = self._entries.popitem(last=False)
        self._tokens -= entry.tokens
        self._waiting[id] = entry
        return entry

    def delete(self, id: str) -> bool:
        """Whether there was an entry of that id to forget."""
        if self._waiting.pop(id, None) is not None:
            return True
        entry = self._entries.pop(id, None)
        if entry is not None:
            self._tokens -= entry.tokens
        return entry is not None

    def resize(self, budget: int) -> None:
        self._budget = budget
        self._bound()

    def replace(self, compressed: Iterable[MemoryEntry], summary: MemoryEntry) -> None:
        """Let `summary` take the place of `compressed`, before all that is left, which keeps its order."""
        for entry in compressed:
            self.delete(entry.id)
        if self._waiting:  # some were set aside meanwhile, and came after what was compressed
            self._waiting[summary.id] = summary
            self._waiting.move_to_end(summary.id, last=False)
            return
        self._entries[summary.id] = summary
        self._entries.move_to_end(summary.id, last=False)
        self._tokens += summary.tokens
        self._bound()

    def clear(self) -> None:
        """Forget everything, the waiting room too."""
        self._entries.clear()
        self._waiting.clear()
        self._tokens = 0

    def _bound(self) -> None:
        while self._budget is not None and self._tokens > self._budget:
            self.evict_oldest()
