"""grep: lines, files or counts by regular expression."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.keeping import keep
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.globs import LONGEST, names_hidden
from codeagent.tools.own_search import is_binary
from codeagent.tools.paths import missing, refuse_system, resolve, short, shown
from codeagent.tools.queries import Hit, Query
from codeagent.tools.searching import search, search_hidden

MATCHES = 100
_HIDDEN = 5
"""Hidden files that are named."""
_LONGEST = 4_000
"""Characters of a pattern."""
_FOUND = 1_000
"""So many matches are looked for in any case: what is not shown of them is archived."""


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    pattern: str
    """Regular expression."""
    path: str = "."
    """File or folder."""
    glob: str = ""
    """Only files like *.py."""
    mode: Literal["content", "files", "count"] = "content"
    before: int = Field(0, ge=0, le=50)
    """Lines of context."""
    after: int = Field(0, ge=0, le=50)
    ignore_case: bool = False
    limit: int = Field(MATCHES, ge=1)
    offset: int = Field(0, ge=0)
    """Matches to skip."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Search file contents with ripgrep: matching lines with their numbers, file names, or counts; at most 100
    matches or 8 kB a call. Ignored, hidden and binary files are left out; name hidden ones in path or glob.
    """
    target, glob = resolve(ctx, params.path or "."), params.glob.strip()
    if not params.pattern:
        raise ToolFault("pattern is empty.", "bad pattern")
    if len(params.pattern) > _LONGEST or len(glob) > LONGEST:
        raise ToolFault(
            f"pattern is longer than {_LONGEST:,} characters, or glob than {LONGEST:,}: look for a part of it.",
            "bad pattern",
        )
    if "\0" in params.pattern + params.glob:
        raise ToolFault(
            "pattern or glob holds a NUL character, which no command line can carry; write \\x00.", "bad pattern"
        )
    if not target.exists():
        raise ToolFault(missing(ctx, target), "missing")
    refuse_system(ctx, target)
    if not (target.is_file() or target.is_dir()):
        raise ToolFault(f"{shown(ctx, target)} is not a regular file.", "not a file")
    if target.is_file() and await asyncio.to_thread(is_binary, target):
        raise ToolFault(f"{shown(ctx, target)} is binary; search it with shell: grep -a.", "binary")
    query = Query(
        params.pattern,
        target,
        params.mode,
        glob,
        params.before,
        params.after,
        params.ignore_case,
        params.offset + _FOUND,
        hidden=names_hidden(glob),
    )
    if params.offset or query.hidden or target.is_file():
        hits, hidden = await search(query, ctx), ""
    else:
        hits, hidden = await _with_hidden(query, ctx)
    if not hits:
        left_out = " Ignored and binary files were left out." if target.is_dir() else ""
        return ToolResult(f"No matches for {query.pattern}.{left_out}{hidden and f' {hidden}'}", summary="no matches")
    return _answer(hits, params, ctx, min(params.limit, MATCHES), hidden and f"[{hidden}]")


async def _with_hidden(query: Query, ctx: ToolContext) -> tuple[list[Hit], str]:
    """The hits, and what is to be said of hidden files: both are looked for at once."""
    looking = asyncio.ensure_future(search_hidden(query, ctx, _HIDDEN))
    try:
        hits = await search(query, ctx)
        found = await looking
    finally:
        looking.cancel()
    names = ", ".join(shown(ctx, path) for path in found)
    return hits, f"Hidden files match: {names}. Name them in path or glob." if found else ""


def _answer(hits: Sequence[Hit], params: Params, ctx: ToolContext, limit: int, hidden: str) -> ToolResult:
    matches = sum(hit.match for hit in hits)
    if params.offset >= matches:
        raise ToolFault(f"There are only {matches} matches; offset {params.offset} is behind them.", "behind the end")
    # Behind what was looked for the last one may be torn.
    blocks = _blocks(_groups(hits, params.after)[params.offset : params.offset + _FOUND], params, ctx)
    room = min(bounds.SEARCH, ctx.room)
    shown_matches = used = 0
    for block in blocks[:limit]:
        used += bounds.size(block) + 1
        if shown_matches and used > room:
            break
        shown_matches += 1
    lines = blocks[:shown_matches]
    end, archive = params.offset + shown_matches, None
    if partial := end < matches:
        more = ""
        if sum(map(bounds.size, blocks)) > room:
            archive, where = keep(ctx.archive, ctx.call_id, (f"{block}\n" for block in blocks))
            more = (
                f"; {where}"
                if len(blocks) == matches - params.offset
                else f"; of the first {len(blocks)} from here {where}"
            )
        lines.append(
            f"[matches {params.offset + 1}-{end}, there are more; go on with offset={end}, or narrow down{more}]"
        )
    if hidden:
        lines.append(hidden)
    what = "match" if params.mode == "content" else "file"
    plural = "" if shown_matches == 1 else ("es" if what == "match" else "s")
    summary = f"{shown_matches}{'+' if partial else ''} {what}{plural}"
    return ToolResult("\n".join(lines), partial=partial, summary=summary, archive=archive)


def _groups(hits: Sequence[Hit], after: int) -> list[list[Hit]]:
    """One group for each match: the context before it, itself, and the context that it asked for behind it."""
    groups: list[list[Hit]] = []
    pending: list[Hit] = []
    end: Hit | None = None
    for hit in hits:
        if hit.match:
            groups.append([*pending, hit])
            pending, end = [], hit
        elif end is not None and hit.path == end.path and hit.number <= end.number + after:
            groups[-1].append(hit)
        else:
            pending.append(hit)
    return groups


def _blocks(groups: Sequence[Sequence[Hit]], params: Params, ctx: ToolContext) -> list[str]:
    """Each group as it is shown, behind the one before it."""
    blocks: list[str] = []
    last: Hit | None = None
    for group in groups:
        rows: list[str] = []
        for hit in group:
            rows += _rows(hit, last, params, ctx)
            last = hit
        blocks.append("\n".join(rows))
    return blocks


def _rows(hit: Hit, last: Hit | None, params: Params, ctx: ToolContext) -> list[str]:
    name = shown(ctx, hit.path)
    if params.mode != "content":
        return [f"{name}: {hit.text}" if params.mode == "count" else name]
    head = [] if last is not None and last.path == hit.path else [name]
    jump = last is not None and not head and hit.number > last.number + 1
    gap = ["--"] if jump and params.before + params.after else []
    return [*head, *gap, f"{hit.number}{':' if hit.match else '-'}{hit.text}"]


def title(params: Params) -> str:
    where = f" in {short(params.path)}" if params.path not in ("", ".") else ""
    return f"Search {short(params.pattern)}{where}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("grep", "read", str(resolve(ctx, params.path or ".")), title(params))


TOOL = Tool("grep", "read", Params, run, title, action, order=50)
