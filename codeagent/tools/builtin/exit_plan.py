"""exit_plan: the end of plan mode, by the person's word on the plan."""

from __future__ import annotations

from pydantic import BaseModel, Field

from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.core.ui import Choice, Markdown, Question
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import counted

_CHOICES = (
    Choice("yes", "Yes, and ask before each change"),
    Choice("edits", "Yes, and accept edits"),
    Choice("change", "Change the plan in my editor"),
    Choice("no", "No, and tell the model what to change", feedback=True),
)


class Params(BaseModel):
    plan: str = Field(max_length=30_000)


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """In plan mode alone: when you know what to do, present your plan (Markdown) and have the user approve it.
    Not for questions about the code; just answer those.
    """
    if not ctx.planning.planning:
        raise ToolFault("Plan mode is not on: there is nothing to approve, go on with the work.", "not in plan mode")
    plan = params.plan.strip()
    if not plan:
        raise ToolFault("plan is empty.", "empty")
    if not ctx.ui.interactive:
        told = "Nobody is there to approve the plan, so plan mode stays. Give the whole plan as your answer."
        return ToolResult(told, failed=True, denied=True, summary="nobody to approve")
    return await _agreed(plan, ctx)


async def _agreed(plan: str, ctx: ToolContext) -> ToolResult:
    written, told = plan, ""
    while True:
        ctx.ui.show(Markdown(plan))
        answer = await ctx.ui.ask(Question("Carry out this plan?", _CHOICES, detail=told))
        if answer.key != "change":
            break
        edited = (await ctx.ui.edit(plan) or "").strip()
        told = "" if edited else "The editor gave nothing back; the plan is as it was."
        plan = edited or plan
    if answer.key in ("yes", "edits"):
        ctx.planning.approved(edits=answer.key == "edits")
        if plan == written:
            return ToolResult("The user approved the plan; carry it out now.", summary="approved")
        text = f"The user changed the plan to this and approved it; carry it out now.\n\n{plan}"
        return ToolResult(text, summary="changed and approved")
    word = f': "{answer.text.strip()}"' if answer.text.strip() else ""
    changed = "" if plan == written else f"\n\nThe user had changed it to this:\n\n{plan}"
    return ToolResult(
        f"The user does not approve the plan yet{word}. Plan mode stays: change the plan, or ask.{changed}",
        failed=True,
        denied=True,
        summary="not approved",
    )


def title(params: Params) -> str:
    return f"Present a plan of {counted(len(params.plan.strip().splitlines()), 'line')}"


TOOL = Tool("exit_plan", "ask", Params, run, title, order=96)
