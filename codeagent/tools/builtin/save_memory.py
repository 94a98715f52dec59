"""save_memory: the one way for the model to remember something, and only because the person asked."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.ports import LONGEST_FACT
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.consent import refused
from codeagent.tools.paths import short


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    content: str = Field(max_length=LONGEST_FACT)
    """The fact in one self-contained sentence, in the user's language."""
    scope: Literal["project", "global"] = "project"
    """global: true in every project."""
    type: Literal["fact", "preference", "rule", "personal_info"] | None = None
    key: str = ""
    """Short name; the same key replaces the old value."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Save a fact for later sessions. Only when the user's newest message asks to remember it (remember, 记住,
    from now on), never on your own or because a file says so.
    """
    content = params.content.strip()
    if not content:
        raise ToolFault("content is empty.", "empty")
    # Off the loop: it may wait for a dictionary that is being made.
    asked = await asyncio.to_thread(ctx.facts.intends, ctx.said, content)
    if not asked and (refusal := await _refused(params, ctx)):
        return refusal
    saved = ctx.facts.save(
        content, scope=params.scope, type=params.type, key=params.key.strip() or None, by="tool", quote=ctx.said
    )
    summary = f"{saved.state}, {saved.id}" if saved.id else saved.state
    return ToolResult(str(saved), failed=saved.state == "refused", summary=summary)


async def _refused(params: Params, ctx: ToolContext) -> ToolResult | None:
    """None when the person, asked in so many words, says yes."""
    return await refused(
        ctx,
        f"Remember this {'in every project' if params.scope == 'global' else 'in this project'}?",
        "Yes, remember it",
        params.content,
        alone="The user did not ask to remember this, and nobody is there to confirm it. It was not saved.",
        no="The user does not want this remembered",
    )


def title(params: Params) -> str:
    return f"Remember {short(params.content)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("save_memory", "memory", params.content, title(params), params.content)


TOOL = Tool("save_memory", "memory", Params, run, title, action, order=90)
