"""shell: a command, bounded in output and time, with everything it starts on a leash."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.jobs import Job
from codeagent.core.messages import INTERRUPTED
from codeagent.core.tools import Action, Command, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import resolve, shown

_LONGEST = 3_600.0
_FIRST_LOOK = 0.5
"""Seconds in which a background command may fail before the model is answered."""
_LARGEST = 120_000
"""Bytes of a command: the system takes no more in one argument."""
_SMALL = 100_000
"""Bytes of output that are handled without a thread."""
_QUIET = {
    "TERM": "dumb",
    **dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER"), "cat"),
    # An editor that leaves everything as it is, for programs that will have one.
    **dict.fromkeys(("EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"), "true"),
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Programs ask nobody, page nothing, and print as they go."""


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
    """Run a bash command without terminal or standard input, each in a new shell: of an earlier one only the folder
    it changed to with `cd` stays, if inside the project. Long output comes as head and tail with the whole in a file.
    To read, find, search and edit files, prefer the other tools.
    """
    folder = _folder(params, ctx)
    if not folder.is_dir():
        raise ToolFault(f"There is no folder {folder}.", "no such folder")
    if "\0" in params.command or not params.command.strip():
        raise ToolFault("command is empty or holds a NUL character.", "bad command")
    if len(params.command.encode("utf-8", "replace")) > _LARGEST:
        raise ToolFault(f"command is longer than {_LARGEST:,} bytes: write it to a file and run that.", "bad command")
    command, sandbox = Command(params.command, str(folder)), None if ctx.typed else ctx.jobs.sandbox
    held = sandbox is not None and sandbox.holds(command)
    result, job = await _run(params, ctx, folder, free=not held)
    if sandbox is None or not held or job.code is None or not _went_wrong(job, params.command):
        return result
    printed = await asyncio.to_thread(job.output)
    if not await asyncio.to_thread(sandbox.refused, printed, folder):
        return result
    lifted = await sandbox.lift(command, printed)
    if lifted.again == "no":
        return replace(result, text=f"{result.text}\n[{lifted.reason}]")
    result, _ = await _run(params, ctx, folder, free=lifted.again == "outside")
    how = "outside the sandbox" if lifted.again == "outside" else "with more allowed"
    return replace(result, text=f"{result.text}\n[The sandbox had refused something; the user let it run again {how}.]")


def _went_wrong(job: Job, command: str) -> bool:
    """Whether something may have been refused: of what stands before a pipe the exit code says nothing."""
    return job.code != 0 or "|" in command


async def _run(params: Params, ctx: ToolContext, folder: Path, *, free: bool) -> tuple[ToolResult, Job]:
    """Run the command once; `free` outside the sandbox."""
    progress = None if params.background else ctx.progress
    environ = {**ctx.environ, **_QUIET}
    job = ctx.jobs.start(params.command, cwd=folder, environ=environ, progress=progress, free=free)
    return await _followed(job, params, ctx, folder), job


async def _followed(job: Job, params: Params, ctx: ToolContext, folder: Path) -> ToolResult:
    """What is told of `job`, once it has ended, has been ended, or has gone to the background."""
    try:
        return await _waited(job, params, ctx, folder)
    except asyncio.CancelledError:
        # Also while the answer is put together, when it may have gone to the background: nobody was told of that.
        await asyncio.shield(asyncio.ensure_future(job.stop()))
        if not job.size:
            raise
        # What it printed until then is what the person saw, and all that anybody learns of it.
        return await _in_thread_if_large(job, ctx, INTERRUPTED, "interrupted")


async def _waited(job: Job, params: Params, ctx: ToolContext, folder: Path) -> ToolResult:
    seconds = _FIRST_LOOK if params.background else min(params.timeout or ctx.jobs.timeout, _LONGEST)
    if not await job.wait(seconds) and ctx.jobs.kills and not (params.background or job.let_go):
        await job.stop()
        return await _in_thread_if_large(job, ctx, f"[killed: it still ran after {seconds:g} s]", "timed out")
    if job.code is not None:
        status, failed = _ended(job, folder, ctx), job.code != 0
        return await _in_thread_if_large(job, ctx, status, ending(job.code), failed=failed, partial=False)
    id, how = ctx.jobs.keep(job), f"still runs after {seconds:g} s, now in the background"
    if job.let_go:
        how = "moved to the background by the user"
    elif params.background:
        how = "runs in the background"
    status = f"[{how} as {id}: see shell_job]"
    return await _in_thread_if_large(job, ctx, status, f"background {id}", failed=False, partial=False)


async def _in_thread_if_large(
    job: Job, ctx: ToolContext, status: str, summary: str, *, failed: bool = True, partial: bool = True
) -> ToolResult:
    printed = job.unread()

    def answer() -> ToolResult:
        bounded = bounds.bound_printed(printed, ctx)
        text = f"{bounded.text or '(no output)'}\n{status}"
        return ToolResult(text, failed, partial or bounded.partial, summary=summary, archive=bounded.archive)

    return answer() if job.size < _SMALL else await asyncio.to_thread(answer)


def _ended(job: Job, folder: Path, ctx: ToolContext) -> str:
    """How a command ended, what it left behind, and where the next one runs."""
    parts = [ending(job.code or 0) + lasted(job)]
    if job.lingers:
        parts.append(f"what it started goes on as {ctx.jobs.keep(job)}: see shell_job")
    there = job.folder
    if there is not None and there != folder:
        if any(there.is_relative_to(root) for root in ctx.roots):
            ctx.jobs.folder = there
        else:
            parts.append(f"{there} is outside the project: the next command does not run there")
    if (stays := _kept_folder(ctx)) != ctx.cwd:
        parts.append(f"the next command runs in {shown(ctx, stays)}")
    return f"[{'; '.join(parts)}]"


def ending(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def lasted(job: Job) -> str:
    """How long it took or is taking, where that is worth a word."""
    return f" after {job.seconds:.{job.seconds < 10:d}f} s" if job.seconds >= 1 else ""


def _folder(params: Params, ctx: ToolContext) -> Path:
    return resolve(ctx, params.cwd) if params.cwd.strip() else _kept_folder(ctx)


def _kept_folder(ctx: ToolContext) -> Path:
    return ctx.jobs.folder if ctx.jobs.folder is not None and ctx.jobs.folder.is_dir() else ctx.cwd


def title(params: Params) -> str:
    """The command itself, never the model's description of it; a long one keeps both ends."""
    line = " ⏎ ".join(part for line in params.command.splitlines() if (part := line.strip()))
    return f"Run {line}" if len(line) <= 160 else f"Run {line[:100]} … {line[-50:]}"


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("shell", "run", params.command, title(params), Command(params.command, str(_folder(params, ctx))))


TOOL = Tool("shell", "run", Params, run, title, action, order=60)
