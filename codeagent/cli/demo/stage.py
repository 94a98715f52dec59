"""What the demonstration is shown on, the real screen or plain lines: it types and answers by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeagent.core.tools import Command
from codeagent.core.ui import UI, Answer, Question, Shown, Theme
from codeagent.core.ui import Row as PickerRow
from codeagent.ui.completion import DraftCompleter
from codeagent.ui.files import FileIndex
from codeagent.ui.look import Look
from codeagent.ui.output import open_output
from codeagent.ui.plain import PlainSurface
from codeagent.ui.render import shown_rows
from codeagent.ui.rows import Row, wrap_text
from codeagent.ui.screen import Screen
from codeagent.ui.surface import Surface
from codeagent.ui.talk import Talk
from codeagent.ui.terminal import TerminalUI
from codeagent.ui.typed import open_history

KEY = 0.028
"""Seconds between two keys."""
GLANCE = 0.7
LOOK = 1.6
LETTERS = 70
"""Letters that are read in a second, about three times a leisurely reader's: much is skimmed."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things stand, so that one can follow."""

    on: bool

    async def wait(self, seconds: float) -> None:
        if self.on:
            await asyncio.sleep(seconds)

    async def read(self, text: str) -> None:
        await self.wait(GLANCE + len(text.encode()) / LETTERS)


class Stage(Protocol):
    """Where it is shown. `ui` answers every question with yes, after a while."""

    @property
    def surface(self) -> Surface: ...
    @property
    def ui(self) -> UI: ...
    def follow(self, talk: Talk) -> None:
        """Show what goes on in this conversation."""
        ...

    async def type(self, line: str) -> None:
        """Write a line where the person would, and send it."""
        ...

    async def close(self) -> None: ...


def tell(stage: Stage, text: str, style: str = "class:accent", group: str = "") -> None:
    """The narrator's words, set apart from everything else by a bar."""
    bar = [(style, "▌ ")]
    stage.surface.write(wrap_text(text.strip(), stage.surface.cells, style, bar, bar), group)


def yes(question: Question) -> int:
    """Which choice the demonstration takes: a command is going to be run twice."""
    wanted = "session" if isinstance(question.preview, Command) else "yes"
    keys = [choice.key for choice in question.choices]
    return keys.index(wanted) if wanted in keys else 0


# ---- a terminal ------------------------------------------------------------------------------------------------------


class ScreenUI(TerminalUI):
    """Shows the real dialogs and chooses in them."""

    def __init__(self, screen: Screen, look: Look, pace: Pace) -> None:
        super().__init__(screen, look)
        self._pace = pace

    async def ask(self, question: Question) -> Answer:
        asked = asyncio.ensure_future(super().ask(question))
        try:
            await self._pace.wait(LOOK)
            chosen = yes(question)
            while not asked.done() and (dialog := self._screen.dialog) is not None and dialog.selected != chosen:
                dialog.selected += 1
                self._screen.changed()
                await self._pace.wait(GLANCE)
            await asyncio.sleep(0)
            if (dialog := self._screen.dialog) is not None:
                dialog.accept()
            return await asked
        finally:
            asked.cancel()


class ScreenStage:
    """The screen of a conversation; keys do nothing but stop the demonstration."""

    def __init__(self, look: Look, pace: Pace, stop: Callable[[], None]) -> None:
        self._pace = pace
        completer = DraftCompleter(FileIndex(look.cwd))
        self._screen = Screen(look, open_output(look), open_history(None), completer)
        self.surface: Surface = self._screen
        self.ui: UI = ScreenUI(self._screen, look, pace)
        self._bind(stop)
        self._drawing = asyncio.create_task(self._screen.run())
        self._drawing.add_done_callback(lambda done: stop())

    def _bind(self, stop: Callable[[], None]) -> None:
        @self._screen.keys.add("<any>", eager=True)
        def _(event: object) -> None:
            """Whoever plays with the keyboard should not type into the scene."""

        for key in ("c-c", "c-d", "escape", "<sigint>"):
            self._screen.keys.add(key, eager=True)(lambda event: stop())

    def follow(self, talk: Talk) -> None:
        self._screen.live = lambda cells: talk.live(cells, asking=self._screen.dialog is not None)

    async def type(self, line: str) -> None:
        draft = self._screen.draft
        if self._pace.on:
            for char in line:
                draft.insert_text(char)
                await self._pace.wait(KEY)
            await self._pace.wait(GLANCE)
            draft.reset()

    async def close(self) -> None:
        if not self._drawing.done():
            await self._screen.drawn.wait()
            self._screen.app.exit(result=0)
        await asyncio.wait({self._drawing})


# ---- a pipe ----------------------------------------------------------------------------------------------------------


class Lines(PlainSurface):
    """Plain lines on which nobody has typed anything: what is said must be shown."""

    def write(self, rows: Sequence[Row], group: str = "") -> None:
        super().write(rows, "" if group == "said" else group)


class LineStage:
    """Plain lines; as `core.ui.UI` it says yes."""

    interactive = True

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._lines = Lines()
        self.surface: Surface = self._lines
        self.ui: UI = self

    def follow(self, talk: Talk) -> None:
        """Nothing is live."""

    async def type(self, line: str) -> None:
        await self._pace.wait(LOOK)

    async def close(self) -> None:
        return None

    async def ask(self, question: Question) -> Answer:
        self._lines.write(wrap_text(question.title, self._lines.cells))
        if question.preview is not None:
            self._lines.write(shown_rows(question.preview, self._lines.cells), "asked")
        choice = question.choices[yes(question)]
        await self._pace.wait(LOOK)
        self._lines.write(wrap_text(choice.label, self._lines.cells, "", [("", "→ ")], [("", "  ")]), "asked")
        return Answer(choice.key)

    async def pick(self, title: str, rows: Sequence[PickerRow]) -> str | None:
        return None

    async def edit(self, text: str) -> str | None:
        return None

    async def copy(self, text: str) -> bool:
        return False

    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        return False

    def show(self, shown: Shown) -> None:
        self._lines.write(shown_rows(shown, self._lines.cells))
