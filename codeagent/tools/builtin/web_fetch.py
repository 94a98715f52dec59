"""web_fetch: a page of the web as text, piece by piece."""

from __future__ import annotations

from urllib.parse import urlunsplit

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.core.web import Page
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import begun, counted
from codeagent.tools.web.addresses import parse_url
from codeagent.tools.web.outside import LABEL, quoted

PAGE = 8_000
"""Characters in one answer."""
_SEAM = 400
"""Characters before the end of a piece in which a line end is looked for."""


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    url: str = Field(max_length=4_000)
    offset: int = Field(0, ge=0)
    """Characters to skip, as the answer before says."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Read a page of the web as Markdown, 8,000 characters at a time; other text as it is. Public http(s) addresses
    only; what runs on this machine is asked with curl in shell.
    """
    page = await ctx.web.fetch(params.url)
    total, start = len(page.text), params.offset
    if start and start >= total:
        raise ToolFault(
            f"The text has only {counted(total, 'character')}; offset {start} is behind them.", "behind the end"
        )
    end = _end(page.text, start)
    partial = end < total
    head = [_head(page)]
    if partial or start:
        head.append(f"[characters {start}-{end} of {total}{f'; go on with offset={end}' if partial else ''}]")
    if page.cut and not partial:
        head.append("[the answer was too long: what follows the end here was not read]")
    text = "\n".join([*head, quoted(page.text[start:end])])
    return ToolResult(text, partial=partial or page.cut, summary=counted(end - start, "character"))


def _head(page: Page) -> str:
    parts = (page.title, page.url, page.type)
    return f"[{' · '.join(part for part in parts if part)}; {LABEL}]"


def _end(text: str, start: int) -> int:
    """Where the piece that begins at `start` ends: at a line end where one is near."""
    end = start + PAGE
    if end >= len(text):
        return len(text)
    seam = text.rfind("\n", end - _SEAM, end)
    return seam + 1 if seam > start else end


def title(params: Params) -> str:
    return f"Fetch {begun(params.url)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    url = urlunsplit(parse_url(params.url))
    # All of it is to be seen: what is sent out stands in the address.
    return Action("web_fetch", "web", url, title(params), url if len(url) > 60 else None)


TOOL = Tool("web_fetch", "web", Params, run, title, action, order=75)
