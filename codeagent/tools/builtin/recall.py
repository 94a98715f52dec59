"""recall: what was said and returned before, found by words or read by its id."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.past import PastHit, PastHits, Scope, age
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import counted, short

HITS = 20
PAGE = 8_000


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    query: str = Field("", max_length=2_000)
    """Words, a path, a command, an error line."""
    id: str = Field("", max_length=300)
    """Instead of query: m12 (message), t3 (turn), m3-m9, c1 (compaction), an archived result."""
    scope: Scope = "session"
    limit: int = Field(10, ge=1)
    offset: int = Field(0, ge=0)
    """Hits, or with id characters, to skip."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Get back what was said, done or returned earlier and has left your context, or in earlier sessions of this
    project or all: search by query, or read one thing whole by id.
    """
    query, id = params.query.strip(), params.id.strip()
    if bool(query) == bool(id):
        raise ToolFault("Give either query or id.", "bad arguments")
    return await (_read(id, params.offset, ctx) if id else _search(query, params, ctx))


async def _read(id: str, offset: int, ctx: ToolContext) -> ToolResult:
    page = await ctx.past.read(id, offset=offset, limit=min(PAGE, ctx.room))
    if (size := bounds.size(page.text)) > ctx.room:
        page = await ctx.past.read(id, offset=offset, limit=len(page.text) * ctx.room // size)
    if page.start >= page.total:
        raise ToolFault(f"{id} has only {page.total} characters; offset {offset} is behind them.", "behind the end")
    partial = page.end < page.total
    note = f"\n[characters {page.start}-{page.end} of {page.total}; go on with offset={page.end}]" if partial else ""
    return ToolResult(page.text + note, partial=partial, summary=counted(len(page.text), "character"))


async def _search(query: str, params: Params, ctx: ToolContext) -> ToolResult:
    limit = min(params.limit, HITS)
    found = await ctx.past.search(query, params.scope, limit=limit, offset=params.offset)
    notes = _notes(found, params.scope)
    if not found.total:
        return ToolResult("\n".join([f"Nothing fits {short(query)}.", *notes]), summary="no hits")
    if params.offset >= found.total:
        raise ToolFault(f"There are only {found.total} hits; offset {params.offset} is behind them.", "behind the end")
    blocks: list[str] = []
    used = 0
    for hit in found.hits:
        block = _block(hit)
        used += bounds.size(block) + 2
        if blocks and used > min(bounds.SEARCH, ctx.room):
            break
        blocks.append(block)
    end = params.offset + len(blocks)
    if partial := end < found.total:
        notes.insert(0, f"[hits {params.offset + 1}-{end} of {found.total}; go on with offset={end}]")
    text = "\n\n".join(blocks) + "\n\n" + "\n".join([*notes, "[recall with an id gives that message whole]"])
    return ToolResult(text, partial=partial, summary=counted(found.total, "hit"))


def _notes(found: PastHits, scope: Scope) -> list[str]:
    notes = []
    if found.held:
        notes.append(f"[{counted(found.held, 'more passage')} in your context already]")
    if found.behind:
        notes.append(f"[{found.behind / 1e6:.1f} MB of sessions are not indexed yet: ask again for hits from them]")
    if not found.total and scope == "session":
        notes.append("[scope=project searches this project's earlier sessions too]")
    return notes


def _block(hit: PastHit) -> str:
    return f"{hit.id} · turn {hit.turn} · {hit.role} · {age(hit.age)}{' ago' * (hit.age >= 60)}\n{hit.snippet}"


def title(params: Params) -> str:
    return f"Recall {short(params.id or params.query)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("recall", "read", str(ctx.archive.folder), title(params))


TOOL = Tool("recall", "read", Params, run, title, action, order=80)
