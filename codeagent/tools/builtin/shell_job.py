"""shell_job: look after the commands that went to the background."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.jobs import Job
from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.builtin.shell import ending, lasted
from codeagent.tools.paths import short


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    action: Literal["list", "read", "kill"]
    id: str = ""
    wait: float = Field(0, ge=0, le=600)
    """Seconds to wait for its end before reading."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """List background commands, read what one printed since you last read it, or kill one with all it started. Such
    commands end with the session. Rather than poll, read with wait.
    """
    if params.action == "list":
        rows = [f"{id}: {state(job)}: {short(job.command)}" for id, job in ctx.jobs.kept()]
        return ToolResult("\n".join(rows) or "No background commands.", summary=f"{len(rows)} jobs")
    job = ctx.jobs.find(params.id)
    if job is None:
        known = ", ".join(id for id, _ in ctx.jobs.kept()) or "none"
        raise ToolFault(f"There is no job {params.id!r}. There are: {known}.", "no such job")
    if params.action == "kill":
        await job.stop()
        return ToolResult(f"{params.id} is dead.", summary="killed")
    if params.wait:
        await job.wait(params.wait)
    bounded = await asyncio.to_thread(bounds.bound_printed, job.unread(), ctx)
    text = f"{bounded.text or '(no new output)'}\n[{state(job)}]"
    if ctx.jobs.sandbox is not None and (refused := ctx.jobs.sandbox.refused(bounded.text, ctx.cwd)):
        text += f"\n[{refused}]"
    return ToolResult(text, partial=bounded.partial, summary=state(job), archive=bounded.archive)


def state(job: Job) -> str:
    """What has become of a job, in words."""
    if job.code is None:
        return f"running{lasted(job).replace(' after', ' for')}"
    return ending(job.code) + lasted(job) + (", what it started is running" if job.lingers else "")


def title(params: Params) -> str:
    if params.action == "list":
        return "List background commands"
    return f"{'Kill' if params.action == 'kill' else 'Read'} {short(params.id, 20)}"


TOOL = Tool("shell_job", "run", Params, run, title, order=70)
