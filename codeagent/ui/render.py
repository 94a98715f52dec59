"""Values that are shown to the person, as rows."""

from __future__ import annotations

from codeagent.core.display import plain, visible
from codeagent.core.entries import Compaction
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Notice, ToolFinished, told
from codeagent.core.tools import Command, Diff, Patch, Preview, ToolResult
from codeagent.core.ui import Markdown, Shown, Table
from codeagent.ui.diff import count, diff_rows
from codeagent.ui.paper import markdown_rows
from codeagent.ui.rows import Row, Span, fit, row_width, width, wrap, wrap_text
from codeagent.ui.tables import table

DIFF_ROWS = 40
"""Rows of a diff or text under a settled call; the rest is a key away."""
_SHARE = 4
"""Rows that each file of a patch has at least."""
LAST_WORDS = 3
"""Lines of a failed program's output that are shown."""
_LEVEL = {"info": "class:dim", "warning": "class:warn", "error": "class:bad"}


def shown_rows(shown: Shown, cells: int) -> list[Row]:
    match shown:
        case Markdown(text):
            return markdown_rows(text, cells)
        case Table(headers, rows):
            head: list[Row] = [[("", visible(cell))] for cell in headers]
            return table(head if any(headers) else [], [[[("", visible(cell))] for cell in row] for row in rows], cells)
        case Notice():
            return wrap_text(visible(str(shown)), cells, _LEVEL[shown.level])
        case _:
            return preview_rows(shown, cells)


def preview_rows(preview: Preview, cells: int, most: int | None = None) -> list[Row]:
    """A diff, a command or text, in at most `most` rows."""
    match preview:
        case Diff():
            return [_diff_head(preview), *diff_rows(preview, cells, None if most is None else most - 1)]
        case Patch(diffs):
            share = None if most is None else max(most // len(diffs), _SHARE)
            rows = [row for diff in diffs for row in preview_rows(diff, cells, share)]
            return _bounded(rows, most, cells)
        case Command(text, cwd):
            rows = wrap_text(visible(text), cells, "class:bold", [("class:accent", "$ ")], [("", "  ")])
            return [*_bounded(rows, most, cells), *wrap([("class:dim", f"in {visible(cwd)}")], cells)]
        case _:
            return _bounded(wrap_text(plain(preview), cells), most, cells)


def _diff_head(diff: Diff) -> Row:
    word = "new file" if diff.before is None else "deleted" if diff.after is None else str(count(diff))
    was: Row = [("class:dim", f"{visible(diff.moved_from)} → ")] if diff.moved_from else []
    return [*was, ("class:bold", visible(diff.path)), ("class:dim", f"  {word}")]


def _bounded(rows: list[Row], most: int | None, cells: int) -> list[Row]:
    if most is None or len(rows) <= most:
        return rows
    return [*rows[: most - 1], [("class:dim", fit(f"… {len(rows) - most + 1} more lines (Ctrl-O)", cells))]]


def error_rows(error: CodeAgentError, cells: int) -> list[Row]:
    """One sentence, and what may help."""
    rows = wrap_text(visible(str(error)), cells, "class:bad", [("class:bad", "✗ ")], [("", "  ")])
    return rows + (wrap_text(visible(error.hint), cells, "class:dim", [("", "  ")], [("", "  ")]) if error.hint else [])


def said_rows(text: str, cells: int) -> list[Row]:
    """What the person said."""
    return wrap_text(visible(text), cells, "class:said", [("class:prompt", "❯ ")], [("", "  ")])


def tool_rows(event: ToolFinished, cells: int) -> list[Row]:
    """The settled line of a call; under it the diff of an edit, what is to be shown, or the first line of a failure."""
    result = event.result
    if result.denied:
        mark: Span = ("class:warn", "⊘ ")
        told = "not permitted"
    else:
        mark = ("class:bad", "✗ ") if result.failed else ("class:good", "● ")
        told = plain(result.summary) or ("failed" if result.failed else "")
    told = " · ".join(part for part in (told, seconds(event.seconds) if event.seconds >= 0.05 else "") if part)
    rows = [tool_line(mark, event.title, told, cells)]
    if isinstance(result.display, Diff) and not (result.failed or result.denied or result.display.moved_from):
        rows += [[("", "  "), *row] for row in diff_rows(result.display, cells - 2, DIFF_ROWS)]
    elif isinstance(result.display, str | Diff | Patch):
        rows += [[("", "  "), *row] for row in preview_rows(result.display, cells - 2, DIFF_ROWS)]
    elif result.failed and not result.denied:
        rows += [[("", "  "), ("class:bad", fit(line, cells - 2))] for line in _failure(result)]
    return rows


def tool_line(mark: Span, title: str, told: str, cells: int) -> Row:
    """One line: the title is cut before what became of it."""
    told = fit(told, cells // 2)
    title = fit(visible(title), cells - width(mark[1]) - (width(told) + 2 if told else 0))
    row: Row = [mark, ("", title)]
    return [*row, ("class:dim", f"  {told}")] if told and row_width(row) + width(told) + 2 <= cells else row


def _failure(result: ToolResult) -> list[str]:
    """Our tools say at first what failed; programs, whose output ends in "[exit 1 …]", say it at the end."""
    lines = [line.rstrip() for line in plain(result.text).split("\n") if line.strip()]
    if lines and lines[-1].startswith(f"[{plain(result.summary)}"):
        return lines[:-1][-LAST_WORDS:]
    return [line.strip() for line in lines[:1]]


def expanded_rows(event: ToolFinished, cells: int) -> list[Row]:
    """Everything a call gave back."""
    rows = [tool_line(("class:accent", "▾ "), event.title, "", cells)]
    shown = event.result.display if isinstance(event.result.display, Diff | Patch) else event.result.text
    return rows + [[("", "  "), *row] for row in preview_rows(shown, cells - 2)]


def receipt_rows(receipt: Compaction, cells: int) -> list[Row]:
    return wrap([("class:dim", f"↺ {visible(str(told(receipt)))}")], cells, (), [("", "  ")])


def seconds(value: float) -> str:
    """0.3 s, 12 s, 3 min 05 s."""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def tokens(value: int) -> str:
    """950, 18.2k, 1.2M."""
    if value < 1_000:
        return str(value)
    return (
        f"{value / 1_000:.1f}k" if value < 99_950 else f"{value / 1_000:.0f}k" if value < 1e6 else f"{value / 1e6:.1f}M"
    )


def money(value: float) -> str:
    """US dollars; what is less than a cent keeps a digit that says something."""
    return f"${value:.2f}" if value >= 0.0095 else f"${value:.3f}" if value >= 0.0005 else "<$0.001"
