"""Settled Markdown as rows. One `Paper` is one answer, from its first line to its last."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.display import visible
from codeagent.ui.highlight import Highlighter
from codeagent.ui.inline import inline
from codeagent.ui.markdown import Block, Splitter
from codeagent.ui.rows import Row, Span, chop, wrap
from codeagent.ui.tables import markdown_table

_BULLETS = "•◦▪"


class Paper:
    """Turns blocks into rows of a given width; remembers the listing it is in and whether the last row was blank."""

    def __init__(self) -> None:
        self._listing: Highlighter | None = None
        self._blank = True

    def rows(self, blocks: Sequence[Block], cells: int) -> list[Row]:
        """Rows for the next settled blocks."""
        rows: list[Row] = []
        for block in blocks:
            if block.kind == "fence":
                self._listing = Highlighter(visible(block.marker))
            elif block.kind == "end":
                self._listing = None
            made = self._block(block, cells, keep=True)
            if made:
                self._blank = not made[-1]
            rows += made
        return rows

    def peek(self, blocks: Sequence[Block], cells: int) -> list[Row]:
        """Rows for blocks that may still change."""
        return [
            row
            for block in blocks
            if not block.text.startswith(("```", "~~~"))
            for row in self._block(block, cells, keep=False)
        ]

    def _block(self, block: Block, cells: int, *, keep: bool) -> list[Row]:
        bar: list[Span] = [("class:md.quote", "│ " * min(block.quote, 4))] if block.quote else []
        head: list[Span] = [*bar, ("", " " * min(block.indent, cells // 3))] if block.indent else bar
        text = visible(block.text)
        match block.kind:
            case "fence" | "end":
                return []
            case "blank":
                return [bar] if bar else [] if self._blank else [[]]
            case "code":
                line = self._listing.line(text, keep=keep) if self._listing else [("", text)]
                return chop(line, cells, [*head, ("", "  ")], [*head, ("", "  ")])
            case "table":
                return markdown_table(text, cells)
            case "rule":
                return [[*bar, ("class:dim", "─" * min(cells, 24))]]
            case "heading":
                style = "class:md.title" if len(block.marker) == 1 else "class:md.heading"
                space: list[Row] = [] if self._blank or not keep else [[]]
                return [*space, *wrap(inline(text, style), cells, bar, bar)]
            case "item":
                return _item(block, text, cells, head)
            case "text":
                style = "class:md.quote" if block.quote else ""
                return wrap(inline(text, style), cells, head, head) if text else []


def _item(block: Block, text: str, cells: int, before: list[Span]) -> list[Row]:
    marker = block.marker if block.marker[0].isdigit() else _BULLETS[min(block.indent // 2, 2)]
    box = text[:4].lower()
    if box in ("[ ] ", "[x] "):
        marker, text = ("☐" if box == "[ ] " else "☑"), text[4:]
    first: list[Span] = [*before, ("class:md.marker", f"{marker} ")]
    return wrap(inline(text), cells, first, [*before, ("", " " * (len(marker) + 1))])


def markdown_rows(text: str, cells: int) -> list[Row]:
    """A whole Markdown text as rows."""
    splitter, paper = Splitter(), Paper()
    return paper.rows([*splitter.feed(text), *splitter.end()], cells)
