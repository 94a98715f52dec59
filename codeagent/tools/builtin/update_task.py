"""update_task: the model's pen for task memory, which outlives its context."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.consent import refused
from codeagent.tools.paths import short


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    section: Literal["goal", "done", "in_progress", "open", "decisions", "notes", "tattoo"]
    content: str = Field(max_length=4_000)
    """One point a line."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Record where the task stands, for after your context is lost. goal, in_progress, open: state the whole section;
    done, decisions, notes: add. tattoo: a hard constraint, the user is asked.
    """
    if params.section == "tattoo" and (refusal := await _refused(params, ctx)):
        ctx.task.declined(params.content)
        return refusal
    updated = await ctx.task.update(params.section, params.content)
    return ToolResult(updated.text, failed=updated.failed, summary="refused" if updated.failed else params.section)


async def _refused(params: Params, ctx: ToolContext) -> ToolResult | None:
    """None when the person, asked in so many words and whatever the mode, says yes."""
    if not params.content.strip():
        raise ToolFault("content is empty.", "empty")
    return await refused(
        ctx,
        "Make this a hard constraint of the project?",
        "Yes, make it a hard constraint",
        params.content,
        alone="A hard constraint needs the user's yes, and nobody is there to give it. It was not written.",
        no="The user does not want this constraint",
        wary=True,
    )


def title(params: Params) -> str:
    return f"Update {params.section}: {short(params.content)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("update_task", "memory", params.content, title(params), params.content)


TOOL = Tool("update_task", "memory", Params, run, title, action, order=91)
