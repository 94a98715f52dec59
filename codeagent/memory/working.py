"""What a request may hold: the arithmetic of working memory, and the groups that stay or go together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codeagent.core.entries import Entry
from codeagent.core.messages import AssistantMessage, ToolMessage, UserMessage

Group = tuple[Entry, ...]
"""Messages that stay together: one alone, or a reply with calls, all their results, and pictures of these."""


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """All in tokens: what system prompt, tools and output leave of the window is for messages."""

    window: int
    system: int = 0
    tools: int = 0
    reserve: int = 0
    """Kept free for the output."""
    per_message: int = 0
    """Added for each message where the estimate counts its text alone (4 in the classic one)."""

    @property
    def budget(self) -> int:
        return max(0, self.window - self.system - self.tools - self.reserve)

    def size(self, group: Group) -> int:
        return sum(entry.tokens + self.per_message for entry in group)

    def select(self, groups: Sequence[Group], held: Collection[int] = ()) -> list[int]:
        """Places of the groups that stay: those `held`, and the newest up to the first that does not fit.

        The newest group of all stays whatever its size.
        """
        stay = {*held, len(groups) - 1} if groups else set()
        left = self.budget - sum(self.size(groups[place]) for place in stay)
        for place in range(len(groups) - 1, -1, -1):
            if place in stay:
                continue
            left -= self.size(groups[place])
            if left < 0:
                break
            stay.add(place)
        return sorted(stay)


def groups(entries: Sequence[Entry]) -> list[Group]:
    """`entries` in their order, as groups."""
    made: list[list[Entry]] = []
    for entry in entries:
        if made and (isinstance(entry.message, ToolMessage) or entry.origin == "tool"):
            made[-1].append(entry)
        else:
            made.append([entry])
    return [tuple(group) for group in made]


def is_open(group: Group) -> bool:
    """Whether a call of the group still waits for its result."""
    first = group[0].message
    return isinstance(first, AssistantMessage) and len(first.calls) > len(group) - 1


def is_user(group: Group) -> bool:
    return isinstance(group[0].message, UserMessage)
