"""The screen: one prompt_toolkit application that stands below what has settled, in the terminal's own scrollback.

From top to bottom: what is going on (live), the input or a dialog in its place, the completion menu, the status line.
`write` puts rows above it all, where they stay and are never drawn again. A frame is drawn when something has changed,
at most thirty times a second, and never when nothing has.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer, DynamicContainer, HSplit, Window
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.layout import Layout
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.widgets import SearchToolbar

from codeagent.core.display import visible
from codeagent.ui import theme
from codeagent.ui.controls import RowsControl
from codeagent.ui.dialog import Dialog
from codeagent.ui.look import Look
from codeagent.ui.menu import menu_rows
from codeagent.ui.output import FrameOutput
from codeagent.ui.rows import Row
from codeagent.ui.status import Bar, status_row

FRAME = 1 / 30
TICK = 0.1
INPUT_ROWS = 12
BESIDE = 3
"""Rows of the live region beside a dialog."""
ESCAPE = 0.05
PREFIX = 1.0
"""Seconds after which a lone Escape, or another first key of two (Ctrl-X), stands for itself."""


class _Application(Application[int]):
    """An application that tells Escape from the beginning of Alt-Enter without making the hand wait."""

    @property
    def timeoutlen(self) -> float:
        pressed = self.key_processor.key_buffer
        return ESCAPE if pressed and pressed[0].key == Keys.Escape else PREFIX

    @timeoutlen.setter
    def timeoutlen(self, value: float) -> None:
        """prompt_toolkit sets one for all keys."""


class Screen:
    """What is on the screen, and how it changes."""

    def __init__(self, look: Look, output: FrameOutput, history: History, completer: Completer) -> None:
        self.output = output
        self.bar = Bar(model=look.model)
        self.hint = ""
        """A word for the person in the place of the status line."""
        self.live: Callable[[int], list[Row]] = lambda cells: []
        """Rows for what is going on, in at most so many cells."""
        self.dialog: Dialog | None = None
        self.drawn = asyncio.Event()
        self.draft = Buffer(multiline=True, history=history, completer=completer, complete_while_typing=True)
        self.keys = KeyBindings()
        """Keys that hold everywhere."""
        self.draft_keys = KeyBindings()
        """Keys that hold in the input."""
        self._pending: list[Row] = []
        self._group: str | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._search = SearchToolbar()
        self._status_line = look.status_line
        self._input = Window(
            BufferControl(self.draft, search_buffer_control=self._search.control, key_bindings=self.draft_keys),
            height=Dimension(min=1, max=INPUT_ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=_prompt,
        )
        self._background = look.environ.get("COLORFGBG", "")
        self._style = theme.style(look.theme, self._background)
        self.app = _Application(
            layout=Layout(self._body(), focused_element=self._input),
            key_bindings=self.keys,
            style=self._style,
            output=output,
            color_depth=output.get_default_color_depth(),
            editing_mode=EditingMode.VI if look.vim else EditingMode.EMACS,
            erase_when_done=True,
            min_redraw_interval=FRAME,
            terminal_size_polling_interval=None,
            before_render=self._before_render,
            after_render=self._after_render,
        )
        self.app.ttimeoutlen = 2 * ESCAPE
        self._notify, self._away = look.notify, look.away
        self._touched = time.monotonic()
        self.app.key_processor.before_key_press += lambda _: self._touch()

    def _body(self) -> AnyContainer:
        lines = HSplit([self._input, self._search])
        return HSplit(
            [
                Window(RowsControl(self._live_rows), dont_extend_height=True),
                DynamicContainer(lambda: self.dialog.container if self.dialog else lines),
                ConditionalContainer(
                    Window(
                        RowsControl(lambda cells: menu_rows(self.draft.complete_state, cells)), dont_extend_height=True
                    ),
                    Condition(lambda: self.dialog is None and self.draft.complete_state is not None),
                ),
                ConditionalContainer(
                    Window(RowsControl(lambda cells: [status_row(self.bar, cells - 1, self.hint)]), height=1),
                    Condition(lambda: self._status_line or bool(self.hint)),
                ),
            ]
        )

    async def run(self) -> int:
        """Until `app.exit`. Raises EOFError when the terminal goes away."""
        try:
            # From here on and without a gap: the terminal makes a line feed of each Enter until it is told not to.
            with self.app.input.raw_mode():
                store_typeahead(self.app.input, [_as_enter(key) for key in self.app.input.read_keys()])
                return await self.app.run_async(set_exception_handler=False)
        finally:
            self.animate(False)

    # ---- what is shown ---------------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """Width for rows; the last column stays free, so that no terminal breaks the line on its own."""
        return max(self.output.get_size().columns - 1, 10)

    @property
    def lines(self) -> int:
        return self.output.get_size().rows

    def write(self, rows: Sequence[Row], group: str = "") -> None:
        """Put rows above everything, for good. A blank line keeps what is not of one `group` apart."""
        if not rows:
            return
        if self._group is not None and (not group or group != self._group):
            self._pending.append([])
        self._group = group
        self._pending += rows
        self.changed()

    def changed(self) -> None:
        """Something looks different now."""
        self.app.invalidate()

    def animate(self, on: bool) -> None:
        """Draw a frame every tenth of a second while `on`, as a clock and a spinner need it."""
        if on and self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())
        elif not on and self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            if self.dialog is None:
                self.changed()

    async def converse(self, dialog: Dialog) -> Any:
        """Put `dialog` in the place of the input until it has its answer."""
        self.dialog = dialog
        dialog.opened(self)
        self.changed()
        try:
            return await dialog.answer
        finally:
            self.dialog = None
            self.app.layout.focus(self._input)
            self.changed()

    def restore(self, text: str) -> None:
        """Put `text` before what is being typed."""
        self.draft.text = "\n".join(part for part in (text, self.draft.text) if part)
        self.draft.cursor_position = len(self.draft.text)

    def dress(self, name: str) -> None:
        """Another theme; what has settled keeps its looks."""
        self._style = self.app.style = theme.style(name, self._background)
        self.changed()

    def call(self, told: str) -> None:
        """Call the person, where they have pressed no key for a while."""
        if self._notify not in ("bell", "desktop") or time.monotonic() - self._touched < self._away:
            return
        # OSC 9, as iTerm2, WezTerm, Ghostty, Windows Terminal and others understand it; the rest ring.
        self.output.write_raw(f"\x1b]9;codeagent: {visible(told)}\x07" if self._notify == "desktop" else "\x07")
        self.output.flush()

    def _touch(self) -> None:
        self._touched = time.monotonic()

    def clear(self) -> None:
        """Empty the screen; the scrollback stays."""
        self.app.renderer.clear()

    # ---- frames ----------------------------------------------------------------------------------------------------

    def _live_rows(self, cells: int) -> list[Row]:
        """The live region never takes so much that the input would not fit."""
        rows = self.live(max(cells - 1, 10))
        room = max(self.lines - 6, 1) if self.dialog is None else BESIDE
        return [[], *rows[-room:], *([[]] if rows else [])]

    def _before_render(self, app: Application[int]) -> None:
        self.output.held = True
        last = app.renderer.last_rendered_screen
        size = self.output.get_size()
        wanted = app.layout.container.preferred_height(size.columns, size.rows).preferred
        if self._pending or (last is not None and last.height > min(wanted, size.rows)):
            app.renderer.erase(leave_alternate_screen=False)
        if self._pending:
            self._print()

    def _print(self) -> None:
        text: list[tuple[str, str]] = []
        for row in self._pending:
            text += row
            text.append(("", "\n"))
        self._pending = []
        fragments: StyleAndTextTuples = list(text)
        print_formatted_text(self.output, fragments, self._style, color_depth=self.app.color_depth)

    def _after_render(self, app: Application[int]) -> None:
        self.output.held = False
        self.output.flush()
        self.drawn.set()


def _as_enter(key: KeyPress) -> KeyPress:
    """A line feed typed before this program took the keys was an Enter."""
    return KeyPress(Keys.ControlM, "\r") if key.key == Keys.ControlJ else key


def _prompt(line: int, wrapped: int) -> StyleAndTextTuples:
    return [("class:prompt", "❯ ")] if line == wrapped == 0 else [("", "  ")]
