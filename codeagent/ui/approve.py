"""A question with choices: digits, or arrows and Enter, choose; Escape dismisses; a choice may take a line of text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyPressEvent

from codeagent.core.display import visible
from codeagent.core.tools import Preview
from codeagent.core.ui import Answer, Question
from codeagent.ui.dialog import Dialog
from codeagent.ui.rows import Row, fit, wrap_text

if TYPE_CHECKING:
    from codeagent.ui.screen import Screen

QUIET = 0.5
"""Seconds without a key before a dialog that came in the middle of a word takes one."""

TITLE = 2
"""Rows of a title beside a preview; one that takes more is cut to a row."""
ROOMY = 8
"""Rows for a preview from which on blank ones around it can be afforded."""

PreviewRows = Callable[[Preview, int, int | None], list[Row]]
"""(preview, cells, most rows) -> rows."""


def only_words(question: Question) -> bool:
    """Whether there is nothing to choose from, only something to say."""
    return len(question.choices) == 1 and question.choices[0].feedback


class Approval(Dialog):
    """Asks one `Question`; the answer is an `Answer`."""

    def __init__(self, question: Question, preview: PreviewRows) -> None:
        super().__init__(typing=False, nothing=Answer(""))
        self._question = question
        self._preview = preview
        self._deaf_until = 0.0

    def opened(self, screen: Screen) -> None:
        # Where words are the only answer they can be typed at once, unless the hand is busy elsewhere.
        self.typing = only_words(self._question) and not screen.draft.text
        super().opened(screen)
        if screen.draft.text:
            self._deaf_until = asyncio.get_running_loop().time() + QUIET

    @property
    def count(self) -> int:
        return len(self._question.choices)

    def rows(self, cells: int, most: int) -> list[Row]:
        question = self._question
        rows = wrap_text(visible(question.title), cells, "class:bold")
        if question.preview is not None and len(rows) > TITLE:  # all of it is in the preview
            rows = wrap_text(fit(visible(question.title), cells), cells, "class:bold")
        if question.detail:
            rows += wrap_text(visible(question.detail), cells, "class:dim")
        choices = [row for number in range(self.count) for row in self._choice(number, cells)]
        room = most - len(rows) - len(choices) - 1
        if question.preview is not None:
            gap: list[Row] = [[]] if room >= ROOMY else []
            shown = self._preview(question.preview, cells - 2, max(room - 2 * len(gap), 3))
            rows += [*gap, *([("", "  "), *row] for row in shown), *gap]
        told = "Enter sends · Esc goes back" if self.typing else "Enter or a digit chooses · Esc: no"
        return [*rows, *choices, [("class:dim", fit(f"  {told}", cells))]]

    def _choice(self, number: int, cells: int) -> list[Row]:
        choice, chosen = self._question.choices[number], number == self.selected
        head = f"{'❯' if chosen else ' '} {number + 1}. "
        style = "class:choice" if chosen else ""
        if self.typing and not chosen:
            style = "class:dim"
        return wrap_text(visible(choice.label), cells, style, [("class:choice", head)], [("", " " * len(head))])

    def accept(self) -> None:
        choice = self._question.choices[self.selected]
        if self._deaf():
            return
        if choice.feedback and not self.typing:
            self.typing = True
            self.focus()
            return
        self.finish(Answer(choice.key, self.field.text.strip()))

    def dismiss(self) -> None:
        if self.typing:
            self.typing = False
            self.field.reset()
            self.focus()
        else:
            self.leave()

    def expand(self) -> None:
        """Put the whole preview above, where it can be scrolled to."""
        if self.screen is not None and self._question.preview is not None:
            self.screen.write(self._preview(self._question.preview, self.screen.cells, None))

    def _move(self, by: int) -> None:
        if not self.typing:
            super()._move(by)

    def _deaf(self, key: str = "") -> bool:
        """Whether the hand is still in the middle of a word; what it types goes where it was meant to go."""
        now = asyncio.get_running_loop().time()
        if now >= self._deaf_until:
            return False
        self._deaf_until = now + QUIET
        if self.screen is not None:
            self.screen.draft.insert_text(key)
        return True

    def _bind(self) -> None:
        super()._bind()
        choosing = Condition(lambda: not self.typing)

        @self.keys.add("<any>", filter=choosing)
        def _(event: KeyPressEvent) -> None:
            if not event.data.isprintable() or self._deaf(event.data):
                return
            if event.data.isascii() and event.data.isdigit() and 0 < int(event.data) <= self.count:
                self.selected = int(event.data) - 1
                self.accept()
