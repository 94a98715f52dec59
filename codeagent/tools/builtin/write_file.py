"""write_file: a whole file, new or in the place of one that the model has seen."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from codeagent.core.tools import Action, Diff, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import UTF8, Encoding
from codeagent.tools.loading import check_new, encode_as, load_for_change, written_like
from codeagent.tools.paths import counted, resolve, short, shown
from codeagent.tools.writing import write_atomic


class Params(BaseModel):
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class _Plan:
    path: Path
    data: bytes
    diff: Diff
    note: str = ""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Create a file, or replace a whole one that you have read; missing folders are made. Do not use it
    to change parts of a file.
    """
    return await asyncio.to_thread(_run, params, ctx)


def _run(params: Params, ctx: ToolContext) -> ToolResult:
    plan = _plan(params, ctx)
    write_atomic(plan.path, plan.data)
    ctx.files.note(plan.path)
    content = params.content
    lines = counted(content.count("\n") + (content[-1:] not in ("", "\n")), "line")
    verb = "Created" if plan.diff.before is None else "Replaced"
    return ToolResult(f"{verb} {plan.diff.path} ({lines}).{plan.note}", summary=lines, display=plan.diff)


def _plan(params: Params, ctx: ToolContext) -> _Plan:
    path = resolve(ctx, params.path)
    name = shown(ctx, path)
    if not path.exists():
        check_new(path, ctx)
        return _Plan(path, UTF8.encode(params.content), Diff(name, None, params.content))
    before, encoding = load_for_change(path, ctx)
    after = written_like(params.content, before)
    if after == before:
        raise ToolFault(f"{name} already holds exactly this; nothing was written.", "unchanged")
    data, note = _encoded(after, encoding, name, before)
    return _Plan(path, data, Diff(name, before, after), note)


def _encoded(text: str, encoding: Encoding, name: str, before: str) -> tuple[bytes, str]:
    """The bytes, and what is to be said of their encoding. Raises ToolFault as `encode_as` does."""
    if encoding.guesses(text, before) and not any(char in before for char in text if char > "\x7f"):
        return UTF8.encode(text), f" Its encoding was not certain ({encoding.name}?): now UTF-8."
    try:
        return encode_as(text, encoding, name, before), ""
    except ToolFault:
        if encoding.guesses(text, before):
            raise
        return UTF8.encode(text), f" Its encoding was {encoding.name}, which lacks some of these characters: now UTF-8."


def title(params: Params) -> str:
    return f"Write {short(params.path)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    plan = await asyncio.to_thread(_plan, params, ctx)
    return Action("write_file", "edit", str(plan.path), title(params), plan.diff)


TOOL = Tool("write_file", "edit", Params, run, title, action, order=20)
