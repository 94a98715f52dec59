"""web_search: addresses worth reading, by the search provider that is set up."""

from __future__ import annotations

from pydantic import BaseModel, Field

from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.core.web import Hit
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import begun, counted
from codeagent.tools.web.outside import LABEL, quoted

_SNIPPET = 500


class Params(BaseModel):
    query: str = Field(max_length=400)


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Search the web; then read what looks right with web_fetch."""
    query = params.query.strip()
    if not query:
        raise ToolFault("query is empty.", "empty")
    hits = await ctx.web.search(query)
    if not hits:
        return ToolResult(f"Nothing found for {begun(query)}.", summary="no hits")
    text = "\n\n".join(_block(number, hit) for number, hit in enumerate(hits, 1))
    return ToolResult(f"[{ctx.web.engine}; {LABEL}]\n{quoted(text)}", summary=counted(len(hits), "hit"))


def _block(number: int, hit: Hit) -> str:
    snippet = hit.snippet if len(hit.snippet) <= _SNIPPET else f"{hit.snippet[:_SNIPPET]}…"
    return "\n".join(
        line for line in (f"{number}. {hit.title[:200]}", f"   {hit.url[:1_000]}", f"   {snippet}") if line.strip()
    )


def title(params: Params) -> str:
    return f"Search the web: {begun(params.query)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("web_search", "web", params.query, title(params))


TOOL = Tool("web_search", "web", Params, run, title, action, order=76)
