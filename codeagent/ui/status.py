"""The status line: never wider than the terminal, the least important part goes first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codeagent.core.display import visible
from codeagent.ui.rows import Row, Span, fit, row_width, width

_GAP = " · "
_MODES = {"accept-edits": "class:warn", "plan": "class:accent", "yolo": "class:bad"}


@dataclass(frozen=True, slots=True)
class Bar:
    """What the status line tells. Empty parts are not shown."""

    model: str = ""
    context: float | None = None
    """Share of the window in use, 0 to 1."""
    full: float = 0.9
    """Share at which the context will be compacted."""
    tokens: str = ""
    money: str = ""
    mode: str = "default"
    branch: str = ""


def status_row(bar: Bar, cells: int, hint: str = "") -> Row:
    """One row of at most `cells` cells; a hint takes the place of everything else."""
    if hint:
        return [("class:accent", fit(hint, cells))]
    parts = [(priority, span) for priority, span in _parts(bar) if span[1]]
    while len(parts) > 1 and _total(parts) > cells:
        parts.remove(max(parts, key=lambda part: part[0]))
    row: Row = []
    for _, (style, text) in parts:
        if row:
            row.append(("class:dim", _GAP))
        row.append((style, fit(text, max(cells - row_width(row), 0))))
    return row


def _total(parts: list[tuple[int, Span]]) -> int:
    return sum(width(text) for _, (_, text) in parts) + len(_GAP) * (len(parts) - 1)


def _parts(bar: Bar) -> list[tuple[int, Span]]:
    """(how easily it is given up, span), in the order shown."""
    dim = "class:dim"
    mode = "" if bar.mode == "default" else visible(bar.mode)
    return [
        (1, (dim, fit(visible(bar.model), 32))),
        (2, _context(bar)),
        (5, (dim, bar.tokens)),
        (4, (dim, bar.money)),
        (0, (_MODES.get(bar.mode, dim), mode)),
        (6, (dim, fit(visible(bar.branch), 28))),
        (7, (dim, "? for keys")),
    ]


def _context(bar: Bar) -> Span:
    if bar.context is None:
        return ("", "")
    style = (
        "class:bad"
        if bar.context >= bar.full * 0.95
        else "class:warn"
        if bar.context >= bar.full * 0.8
        else "class:dim"
    )
    return (style, f"{bar.context:.0%} context")


def branch(cwd: Path) -> str:
    """The branch checked out in `cwd`, a short commit where there is none, "" outside a repository."""
    for folder in (cwd, *cwd.parents):
        git = folder / ".git"
        try:
            if git.is_file():
                git = folder / git.read_text("utf-8").removeprefix("gitdir:").strip()
            head = (git / "HEAD").read_text("utf-8").strip()
        except (OSError, ValueError):
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""
