"""glob: paths by pattern, newest first."""

from __future__ import annotations

import asyncio
import heapq
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.keeping import keep
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.globs import matcher, names_hidden, split
from codeagent.tools.paths import counted, missing, on_one_line, refuse_system, resolve, short, shown
from codeagent.tools.walking import list_files, ripgrep

PATHS = 200
SECONDS = 30.0
_KEPT = 10_000
"""Paths that are archived where there are more than can be shown."""


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    pattern: str
    """Like **/*.py or src/**/*.{ts,tsx}."""
    path: str = "."
    """Folder to search."""
    limit: int = Field(PATHS, ge=1)


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Find files by name, newest first, at most 200. Ignored files are left out, and hidden ones that the pattern
    does not name.
    """
    folder, pattern = _target(params, ctx)
    if not folder.is_dir():
        told = f"{shown(ctx, folder)} is no folder." if folder.exists() else missing(ctx, folder)
        raise ToolFault(told, "no such folder")
    refuse_system(ctx, folder)
    try:
        fits = matcher(pattern)
    except ValueError as error:
        raise ToolFault(f"The pattern {short(params.pattern)} cannot be read: {error}.", "bad pattern") from None
    try:
        async with asyncio.timeout(SECONDS):
            files = await list_files(folder, ctx, ripgrep(ctx.environ), hidden=True)
    except TimeoutError:
        raise ToolFault(f"The search was ended after {SECONDS:g} s: narrow path or pattern.", "too slow") from None
    found = await asyncio.to_thread(lambda: [path for path in files if fits(path)])
    hidden = [] if names_hidden(pattern) else [path for path in found if path.startswith(".") or "/." in path]
    if hidden:
        left_out = set(hidden)
        found = [path for path in found if path not in left_out]
    note = _of_hidden(hidden, folder, ctx)
    if not found:
        where = "" if folder == ctx.cwd else f" below {shown(ctx, folder)}"
        text = f"No files match {params.pattern}{where}. Ignored files were left out."
        return ToolResult(f"{text} {note}".rstrip(), summary="no files")
    return await asyncio.to_thread(_answer, found, folder, ctx, min(params.limit, PATHS), note)


def _of_hidden(paths: Sequence[str], folder: Path, ctx: ToolContext) -> str:
    if not paths:
        return ""
    return f"{counted(len(paths), 'hidden file')} would match, like {shown(ctx, folder / min(paths))}: name it."


def _answer(paths: Sequence[str], folder: Path, ctx: ToolContext, limit: int, note: str) -> ToolResult:
    found, newest = _newest(paths, folder, _KEPT)
    if folder.is_relative_to(ctx.cwd):  # once for all: there may be thousands
        base = "" if folder == ctx.cwd else f"{shown(ctx, folder)}/"
        lines = [base + on_one_line(path) for path in newest]
    else:
        lines = [shown(ctx, folder / path) for path in newest]
    archive = None
    if partial := found > limit:
        more = ""
        if len(lines) > PATHS:
            archive, where = keep(ctx.archive, ctx.call_id, [f"{line}\n" for line in lines])
            more = f"; {where}" if found == len(lines) else f"; of the {len(lines)} newest {where}"
        lines = [*lines[:limit], f"[{limit} newest of {found}; narrow the pattern or the path to see others{more}]"]
    if note:
        lines.append(f"[{note}]")
    return ToolResult("\n".join(lines), partial=partial, summary=counted(found, "file"), archive=archive)


def _newest(paths: Sequence[str], folder: Path, limit: int) -> tuple[int, list[str]]:
    """How many there are, and the newest of them; of one date by name, so that the order is always the same."""
    dated: list[tuple[int, str]] = []
    top = str(folder)
    for path in paths:
        try:
            dated.append((-os.stat(f"{top}/{path}").st_mtime_ns, path))  # noqa: PTH116 (for each of very many)
        except OSError:
            continue
    return len(dated), [path for _, path in heapq.nsmallest(limit, dated)]


def _target(params: Params, ctx: ToolContext) -> tuple[Path, str]:
    folder, pattern = split(params.pattern.strip(), resolve(ctx, params.path or "."))
    return resolve(ctx, str(folder)), pattern


def title(params: Params) -> str:
    return f"Find {short(params.pattern)}" + (f" in {short(params.path)}" if params.path not in ("", ".") else "")


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("glob", "read", str(_target(params, ctx)[0]), title(params))


TOOL = Tool("glob", "read", Params, run, title, action, order=40)
