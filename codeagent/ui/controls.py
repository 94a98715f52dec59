"""The one kind of control beside the input: rows that are made anew for each frame."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.application import get_app
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase
from prompt_toolkit.layout.controls import GetLinePrefixCallable, UIContent, UIControl

from codeagent.ui.rows import Row, spans


class RowsControl(UIControl):
    """Shows what `rows(cells)` gives, its end where there is no room for all of it."""

    def __init__(self, rows: Callable[[int], list[Row]], keys: KeyBindingsBase | None = None) -> None:
        """With `keys` it can be focused, and they hold while it is."""
        self._rows = rows
        self._keys = keys
        self._frame: tuple[int, int] = (-1, -1)
        self._made: list[Row] = []

    def is_focusable(self) -> bool:
        return self._keys is not None

    def get_key_bindings(self) -> KeyBindingsBase | None:
        return self._keys

    def preferred_height(
        self, width: int, max_available_height: int, wrap_lines: bool, get_line_prefix: GetLinePrefixCallable | None
    ) -> int | None:
        return len(self._for_frame(width))

    def create_content(self, width: int, height: int) -> UIContent:
        rows = self._for_frame(width)[-height:]
        return UIContent(lambda line: spans(rows[line]), line_count=len(rows), show_cursor=False)

    def _for_frame(self, cells: int) -> list[Row]:
        frame = (get_app().render_counter, cells)
        if frame != self._frame:
            self._frame, self._made = frame, self._rows(cells)
        return self._made
