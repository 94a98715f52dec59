"""task: a job for a subagent with a context of its own, of which only the report comes back."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, ConfigDict

from codeagent.core.agents import Report
from codeagent.core.messages import INTERRUPTED
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import counted, short


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    prompt: str
    """All it must know, and what to report: it sees nothing of this conversation."""
    agent: str = "general"
    """explore (only reads), general, or one that the system prompt lists."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Have a subagent do a job in a context of its own and get its report: for searches through many files, or parts of
    the work that stand alone. Several calls in one reply run side by side.
    """
    kinds = {kind.name: kind for kind in ctx.agents.kinds()}
    kind = kinds.get(params.agent.strip() or "general")
    if kind is None:
        raise ToolFault(f"There is no agent {params.agent!r}. There are: {', '.join(kinds)}.", "no such agent")
    if not params.prompt.strip():
        raise ToolFault("prompt is empty.", "empty")
    report = await ctx.agents.run(kind, params.prompt, ctx.progress)
    return await asyncio.to_thread(_result, kind.name, report, ctx)


def _result(name: str, report: Report, ctx: ToolContext) -> ToolResult:
    bounded = bounds.bound(report.text.strip(), min(bounds.REPORT, ctx.room), ctx.archive, ctx.call_id)
    notes = [f"{name}: {counted(report.steps, 'step')}"]
    interrupted = report.failed == "interrupted"
    if report.failed and not interrupted:
        notes.append(f"stopped: {report.failed}")
    if report.transcript:
        notes.append(f"all it did: recall id={report.transcript}")
    summary = f"{counted(report.steps, 'step')}, {counted(report.tokens, 'token')}"
    return ToolResult(
        f"{bounded.text or '(no report)'}\n[{'; '.join(notes)}]" + f"\n{INTERRUPTED}" * interrupted,
        failed=bool(report.failed),
        partial=bounded.partial,
        summary=f"{report.failed} · {summary}" if report.failed else summary,
        archive=bounded.archive,
    )


def title(params: Params) -> str:
    return f"Task ({short(params.agent, 30)}) {' '.join(params.prompt.split())[:120]}"


async def action(params: Params, ctx: ToolContext) -> Action:
    # What the subagent does is judged call by call.
    return Action("task", "read", str(ctx.cwd), title(params))


TOOL = Tool("task", "read", Params, run, title, action, order=90)
