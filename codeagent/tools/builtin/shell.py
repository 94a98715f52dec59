"""shell: a command, bounded in output and time, with everything it starts on a leash."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.jobs import Job
from codeagent.core.messages import INTERRUPTED
from codeagent.core.tools import Action, Command, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import resolve

_LONGEST = 3_600.0
_FIRST_LOOK = 0.5
"""Seconds in which a background command may fail before the model is answered."""
_SMALL = 100_000
"""Bytes of output that are handled without a thread."""
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    command: str
    timeout: float | None = Field(None, gt=0)
    """Seconds (default 120) until it goes on in the background."""
    background: bool = False
    """Do not wait: for servers and watchers."""
    description: str = ""
    """What it is for, in a few words."""
    cwd: str = ""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Run a bash command in the project folder, each time in a new shell without terminal or standard input.
    Long output comes as head and tail with the whole in a file. To read, find, search and edit files, prefer
    the other tools.
    """
    folder = _folder(params, ctx)
    if not folder.is_dir():
        raise ToolFault(f"There is no folder {folder}.", "no such folder")
    if "\0" in params.command or not params.command.strip():
        raise ToolFault("command is empty or holds a NUL character.", "bad command")
    progress = None if params.background else ctx.progress
    job = ctx.jobs.start(params.command, cwd=folder, environ={**ctx.environ, **_QUIET}, progress=progress)
    seconds = _FIRST_LOOK if params.background else min(params.timeout or ctx.jobs.timeout, _LONGEST)
    try:
        ended = await job.wait(seconds)
    except asyncio.CancelledError:
        await asyncio.shield(asyncio.ensure_future(job.stop()))
        if not job.size:
            raise
        # What it printed until then is what the person saw, and all that anybody learns of it.
        return await asyncio.to_thread(_interrupted, job, ctx)
    if job.size < _SMALL:
        return _answer(job, ctx, ended=ended, after=None if params.background else seconds)
    return await asyncio.to_thread(_answer, job, ctx, ended=ended, after=None if params.background else seconds)


def _answer(job: Job, ctx: ToolContext, *, ended: bool, after: float | None) -> ToolResult:
    bounded = bounds.bound(job.unread().strip("\n"), bounds.SHELL, ctx.archive, ctx.call_id, job.whole())
    code = job.code
    if not ended or code is None:
        id = ctx.jobs.keep(job)
        how = "runs in the background" if after is None else f"still runs after {after:g} s, now in the background"
        status, summary, failed = f"[{how} as {id}: see shell_job]", f"background {id}", False
    else:
        status, summary, failed = f"[{ending(code)}]", ending(code), code != 0
        if job.lingers:
            status = f"[{ending(code)}; what it started goes on as {ctx.jobs.keep(job)}: see shell_job]"
    text = f"{bounded.text}\n{status}" if bounded.text else f"(no output)\n{status}"
    return ToolResult(text, failed, bounded.partial, summary=summary, archive=bounded.archive)


def _interrupted(job: Job, ctx: ToolContext) -> ToolResult:
    bounded = bounds.bound(job.unread().strip("\n"), bounds.SHELL, ctx.archive, ctx.call_id, job.whole())
    text = f"{bounded.text}\n{INTERRUPTED}"
    return ToolResult(text, failed=True, partial=True, summary="interrupted", archive=bounded.archive)


def ending(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _folder(params: Params, ctx: ToolContext) -> Path:
    return resolve(ctx, params.cwd) if params.cwd.strip() else ctx.cwd


def title(params: Params) -> str:
    """The command itself, never the model's description of it; a long one keeps both ends."""
    line = " ⏎ ".join(part for line in params.command.splitlines() if (part := line.strip()))
    return f"Run {line}" if len(line) <= 160 else f"Run {line[:100]} … {line[-50:]}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("shell", "run", params.command, title(params), Command(params.command, str(_folder(params, ctx))))


TOOL = Tool("shell", "run", Params, run, title, action, order=60)
