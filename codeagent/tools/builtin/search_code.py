"""search_code: the parts of files that fit a question, by names, words and meaning."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.code import CodeHit
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import counted, missing, resolve, short, shown

HITS = 10


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    query: str
    """Names or words, like "retry after rate limit"."""
    path: str = ""
    """Only below this folder, or this file."""
    limit: int = Field(HITS, ge=1)
    offset: int = Field(0, ge=0)
    """Hits to skip."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Find code by what it does or is called, from an index of definitions; grep finds literal text. At most 10 hits
    a call.
    """
    if not params.query.strip():
        raise ToolFault("query is empty.", "bad query")
    target = resolve(ctx, params.path) if params.path.strip() else None
    if target is not None and not target.exists():
        raise ToolFault(missing(ctx, target), "missing")
    limit = min(params.limit, HITS)
    found = await ctx.code.search(params.query, path=str(target or ""), limit=limit, offset=params.offset)
    notes = [f"[{counted(found.left, 'file')} not indexed yet: search again for hits from them]"] if found.left else []
    if not found.total:
        return ToolResult("\n".join(["Nothing fits.", *notes]), summary="no hits")
    if params.offset >= found.total:
        raise ToolFault(f"There are only {found.total} hits; offset {params.offset} is behind them.", "behind the end")
    blocks: list[str] = []
    used = 0
    for hit in found.hits:
        block = _block(hit, ctx)
        used += bounds.size(block) + 2
        if blocks and used > min(bounds.SEARCH, ctx.room):
            break
        blocks.append(block)
    end = params.offset + len(blocks)
    if partial := end < found.total:
        notes.insert(0, f"[hits {params.offset + 1}-{end} of {found.total}; go on with offset={end}]")
    return ToolResult("\n\n".join([*blocks, *notes]), partial=partial, summary=counted(found.total, "hit"))


def _block(hit: CodeHit, ctx: ToolContext) -> str:
    what = f" · {hit.kind} {hit.symbol}" if hit.symbol else ""
    lines = [f"{number}\t{bounds.clip(line, 200)}" for number, line in enumerate(hit.passage.split("\n"), hit.line)]
    path = shown(ctx, ctx.roots[0] / hit.path)
    return "\n".join([f"{path}:{hit.start}-{hit.end}{what}", *lines])


def title(params: Params) -> str:
    return f"Search code {short(params.query)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    target = resolve(ctx, params.path) if params.path.strip() else ctx.roots[0]
    return Action("search_code", "read", str(target), title(params))


TOOL = Tool("search_code", "read", Params, run, title, action, order=55)
