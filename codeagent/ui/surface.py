"""What a conversation is shown on: the screen, or plain lines where there is no terminal to draw on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from codeagent.ui.rows import Row
from codeagent.ui.status import Bar


class Surface(Protocol):
    bar: Bar
    live: Callable[[int], list[Row]]

    @property
    def cells(self) -> int:
        """Width for rows that are written."""
        ...

    def write(self, rows: Sequence[Row], group: str = "") -> None:
        """Put rows above everything, for good."""
        ...

    def changed(self) -> None:
        """What is live looks different now."""
        ...

    def animate(self, on: bool) -> None:
        """Whether what is live changes with the time."""
        ...

    def call(self, told: str) -> None:
        """Call the person who is elsewhere: something waits for them, or is done."""
        ...

    def restore(self, text: str) -> None:
        """Give words back to the person that did not reach the model."""
        ...
