"""The person, as everything below the terminal may reach them: questions, lists to pick from, things to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codeagent.core.events import Notice
from codeagent.core.tools import Preview

Theme = Literal["default", "dark", "light", "colour-blind", "plain"]
Call = Literal["off", "bell", "desktop"]
"""How a person is called who is elsewhere: not at all, by the terminal's bell, by a notification of the desktop."""


@dataclass(frozen=True, slots=True)
class Choice:
    key: str
    label: str
    feedback: bool = False
    """Choosing it takes a line of text along."""


@dataclass(frozen=True, slots=True)
class Question:
    title: str
    choices: tuple[Choice, ...]
    preview: Preview | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    key: str
    """Key of the choice; "" when the question was dismissed or nobody is there to answer."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a picker: columns as shown, and the value it stands for."""

    value: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Markdown:
    text: str


Shown = str | Markdown | Table | Notice | Preview


class UI(Protocol):
    """The person, as tools, permissions and commands may reach them."""

    @property
    def interactive(self) -> bool:
        """Whether somebody can answer."""
        ...

    async def ask(self, question: Question) -> Answer: ...
    async def pick(self, title: str, rows: Sequence[Row]) -> str | None: ...
    async def edit(self, text: str) -> str | None: ...
    async def copy(self, text: str) -> bool: ...
    def show(self, shown: Shown) -> None: ...
    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        """Look, or take keys, like this from now on. False where there is no terminal to draw on."""
        ...
