"""The completion menu: a few rows below the input."""

from __future__ import annotations

from prompt_toolkit.buffer import CompletionState

from codeagent.core.display import visible
from codeagent.ui.rows import Row, fit, fit_path, pad, width

ROWS = 8


def window(count: int, selected: int, most: int) -> range:
    """Which of `count` lines to show so that the selected one is among them."""
    start = min(max(selected - most // 2, 0), max(count - most, 0))
    return range(start, min(start + most, count))


def menu_rows(state: CompletionState | None, cells: int) -> list[Row]:
    """The completions around the selected one, with what they mean."""
    if state is None or not state.completions:
        return []
    chosen = state.complete_index or 0  # what Enter would take
    shown = window(len(state.completions), chosen, ROWS)
    names = {index: visible(state.completions[index].display_text) for index in shown}
    column = min(max(map(width, names.values())), max(cells - 4, 8))
    rows: list[Row] = []
    for index in shown:
        style = "class:selected" if index == chosen else ""
        name = pad(fit_path(names[index], column), column)
        meta = fit(visible(state.completions[index].display_meta_text), cells - column - 5)
        rows.append([("", "  "), (style, name), ("class:dim", f"  {meta}" if meta else "")])
    if len(state.completions) > len(shown):
        rows.append([("class:dim", fit(f"  {chosen + 1} of {len(state.completions)}", cells))])
    return rows
