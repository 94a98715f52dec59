"""Dialogs stand in the place of the input: a question with choices, a list to pick from."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.containers import ConditionalContainer, HSplit, Window
from prompt_toolkit.layout.controls import BufferControl

from codeagent.core.display import visible
from codeagent.ui.controls import RowsControl
from codeagent.ui.menu import window
from codeagent.ui.rows import Row, fit, pad, width, wrap_text

if TYPE_CHECKING:
    from codeagent.core.ui import Row as PickerRow
    from codeagent.ui.screen import Screen


class Dialog(ABC):
    """What all dialogs share: rows, a line of text, a selection that arrows move, Enter and Escape."""

    def __init__(self, *, typing: bool, nothing: object) -> None:
        """`nothing` is the answer of a dialog that is left."""
        self._nothing = nothing
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.selected = 0
        self.typing = typing
        self.field = Buffer(multiline=False)
        self.keys = KeyBindings()
        self.screen: Screen | None = None
        self._list = Window(RowsControl(self._shown, self.keys), dont_extend_height=True)
        self._line = Window(
            BufferControl(self.field, key_bindings=self.keys),
            height=1,
            get_line_prefix=lambda line, wrapped: self.prompt(),
        )
        self.container = HSplit([self._list, ConditionalContainer(self._line, Condition(lambda: self.typing))])
        self._bind()

    # ---- what a dialog says ----------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, cells: int, most: int) -> list[Row]:
        """The dialog in at most `most` rows, the line of text not counted."""

    def prompt(self) -> StyleAndTextTuples:
        return [("class:prompt", "  ❯ ")]

    @property
    @abstractmethod
    def count(self) -> int:
        """How many lines can be selected."""

    @abstractmethod
    def accept(self) -> None:
        """Enter was pressed."""

    def dismiss(self) -> None:
        """Escape was pressed."""
        self.leave()

    # ---- what all share --------------------------------------------------------------------------------------------

    def opened(self, screen: Screen) -> None:
        self.screen = screen
        self.focus()

    def focus(self) -> None:
        if self.screen is not None:
            self.screen.app.layout.focus(self._line if self.typing else self._list)

    def expand(self) -> None:  # noqa: B027 - most have nothing to expand
        """Ctrl-O was pressed: show the whole of what there was no room for."""

    def leave(self) -> None:
        self.finish(self._nothing)

    def finish(self, answer: object) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def _shown(self, cells: int) -> list[Row]:
        return self.rows(max(cells - 1, 10), max((self.screen.lines if self.screen else 24) - 4, 4))

    def _move(self, by: int) -> None:
        self.selected = (self.selected + by) % max(self.count, 1)

    def _bind(self) -> None:
        @self.keys.add("up")
        @self.keys.add("c-p")
        def _(event: KeyPressEvent) -> None:
            self._move(-1)

        @self.keys.add("down")
        @self.keys.add("c-n")
        @self.keys.add("tab")
        def _(event: KeyPressEvent) -> None:
            self._move(1)

        @self.keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            self.accept()

        @self.keys.add("escape")
        def _(event: KeyPressEvent) -> None:
            self.dismiss()

        @self.keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            if self.typing:
                self.field.insert_text(" ".join(visible(event.data).split()))


class Picker(Dialog):
    """A list that narrows as one types. The answer is the chosen row's value, or None."""

    def __init__(self, title: str, rows: Sequence[PickerRow]) -> None:
        super().__init__(typing=True, nothing=None)
        self._title = title
        self._all = [(row, tuple(map(visible, row.columns))) for row in rows]
        self._searched = [" ".join([*columns, row.value]).casefold() for row, columns in self._all]
        self._found = self._all
        self.field.on_text_changed += lambda _: self._search()

    def _search(self) -> None:
        words = self.field.text.casefold().split()
        self._found = [
            entry for entry, text in zip(self._all, self._searched, strict=True) if all(word in text for word in words)
        ]
        self.selected = 0

    @property
    def count(self) -> int:
        return len(self._found)

    def rows(self, cells: int, most: int) -> list[Row]:
        rows = wrap_text(visible(self._title), cells, "class:bold")
        shown = window(self.count, self.selected, max(most - len(rows) - 1, 1))
        widths = self._widths(cells - 2, shown)
        for index in shown:
            columns = self._found[index][1]
            line = "  ".join(pad(text, size) for text, size in zip(columns, widths, strict=False)).rstrip()
            chosen = index == self.selected
            rows.append(
                [("class:choice", "❯ " if chosen else "  "), ("class:selected" if chosen else "", fit(line, cells - 2))]
            )
        told = f"{self.count} of {len(self._all)}" if self.count != len(self._all) else f"{self.count}"
        return [*rows, [("class:dim", fit(f"  {told} · type to search · Enter picks · Esc leaves", cells))]]

    def _widths(self, cells: int, shown: range) -> list[int]:
        """Every column as wide as it needs to be; the widest gives way where there is no room."""
        lines = [self._found[index][1] for index in shown]
        widths = [max(map(width, column)) for column in zip(*lines, strict=False)]
        over = sum(widths) + 2 * (len(widths) - 1) - cells
        if widths and over > 0:
            widest = widths.index(max(widths))
            widths[widest] = max(widths[widest] - over, 4)
        return widths

    def accept(self) -> None:
        if self._found:
            self.finish(self._found[self.selected][0].value)
