"""Task memory, as the tool that writes it sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

TaskPart = Literal["goal", "done", "in_progress", "open", "decisions"]
"""Of the snapshot of a task."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What became of an update of task memory, in a sentence for the model."""

    text: str
    failed: bool = False


class TaskBoard(Protocol):
    """Task memory for the update_task tool."""

    async def update(self, section: TaskPart | Literal["notes", "tattoo"], content: str) -> Updated:
        """State goal, in_progress or open anew, or add to another section; a tattoo only after the person's yes.

        Raises:
            StoreError: it cannot be written.
        """
        ...

    def declined(self, content: str) -> None:
        """The person did not agree to a hard constraint; nothing is written but a line in the log."""
        ...
