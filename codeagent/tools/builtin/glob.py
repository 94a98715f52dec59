"""glob: paths by pattern, newest first."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.keeping import keep
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.globs import matcher, split
from codeagent.tools.paths import counted, missing, resolve, short, shown
from codeagent.tools.walking import list_files, ripgrep

PATHS = 200
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
    """Find files by name, newest first, at most 200. Ignored files are left out."""
    folder, pattern = _target(params, ctx)
    if not folder.is_dir():
        raise ToolFault(missing(ctx, folder), "no such folder")
    try:
        fits = matcher(pattern)
    except ValueError as error:
        raise ToolFault(f"The pattern cannot be read: {error}.", "bad pattern") from None
    files = await list_files(folder, ctx, ripgrep(ctx.environ))
    limit = min(params.limit, PATHS)
    found, newest = await asyncio.to_thread(
        _newest, [path for path in files if fits(path.relative_to(folder).as_posix())], _KEPT
    )
    if not found:
        return ToolResult(f"No files match {params.pattern} below {shown(ctx, folder)}.", summary="no files")
    lines, archive = [shown(ctx, path) for path in newest], None
    if partial := found > limit:
        more = ""
        if len(lines) > PATHS:
            archive, where = await asyncio.to_thread(keep, ctx.archive, ctx.call_id, [f"{line}\n" for line in lines])
            more = f"; {where}" if found == len(lines) else f"; of the {len(lines)} newest {where}"
        lines = [*lines[:limit], f"[{limit} newest of {found}; narrow the pattern or the path to see others{more}]"]
    return ToolResult("\n".join(lines), partial=partial, summary=counted(found, "file"), archive=archive)


def _newest(paths: Sequence[Path], limit: int) -> tuple[int, list[Path]]:
    dated = []
    for path in paths:
        try:
            dated.append((-path.stat().st_mtime_ns, str(path), path))
        except OSError:
            continue
    return len(dated), [path for _, _, path in heapq.nsmallest(limit, dated)]


def _target(params: Params, ctx: ToolContext) -> tuple[Path, str]:
    folder, pattern = split(params.pattern.strip(), resolve(ctx, params.path or "."))
    return resolve(ctx, str(folder)), pattern


def title(params: Params) -> str:
    return f"Find {short(params.pattern)}" + (f" in {short(params.path)}" if params.path not in ("", ".") else "")


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("glob", "read", str(_target(params, ctx)[0]), title(params))


TOOL = Tool("glob", "read", Params, run, title, action, order=40)
