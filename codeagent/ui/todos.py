"""The steps of the work at hand, above the input while there is one left."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.display import visible
from codeagent.core.todo import Todo, TodoState, current, finished
from codeagent.ui.menu import window
from codeagent.ui.rows import Row, Span, fit

MOST = 8
"""Steps that are shown live; those around the current one stay."""
_MARKS: dict[TodoState, tuple[Span, str]] = {
    "pending": (("class:dim", "☐ "), ""),
    "in_progress": (("class:accent", "▸ "), "class:bold"),
    "done": (("class:good", "☑ "), "class:dim"),
}


def todo_rows(items: Sequence[Todo], cells: int, *, folded: bool) -> list[Row]:
    """Nothing where nothing is left to do; folded, one row with the current step."""
    going = current(items)
    if going is None:
        return []
    told = f"Todo {finished(items)}/{len(items)}"
    if folded:
        return [[("class:accent", "▸ "), ("class:dim", fit(f"{told} · {visible(going.content)}", cells - 2))]]
    shown = window(len(items), items.index(going), MOST)
    head = f"{told} · Ctrl-T folds" + (f" · {shown.start + 1}–{shown.stop} shown" if len(shown) < len(items) else "")
    return [[("class:dim", fit(head, cells))], *(step_row(items[at], cells) for at in shown)]


def step_row(item: Todo, cells: int) -> Row:
    mark, style = _MARKS[item.state]
    return [("", "  "), mark, (style, fit(visible(item.content), cells - 4))]
