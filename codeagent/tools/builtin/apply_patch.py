"""apply_patch: several files at once, all or nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from codeagent.core.tools import Action, Diff, Patch, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.drafts import Drafts
from codeagent.tools.patches import HEADERS, parse_patch
from codeagent.tools.paths import counted, short, shown
from codeagent.tools.writing import write_together


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    patch: str
    """*** Begin Patch
    *** Update File: src/a.py
    *** Move to: src/b.py
    @@ def f():
     line that stays
    -line that goes
    +line that comes
    *** Add File: c.py
    +each line with +
    *** Delete File: d.py
    *** End Patch

    Around each change keep 3 lines that stay; @@ names a line above where these are not unique. Move to is optional."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Change files that you have read, and add, move or delete files, by one patch: applied whole or not at all."""
    return await asyncio.to_thread(_run, params, ctx)


def _run(params: Params, ctx: ToolContext) -> ToolResult:
    drafts = _plan(params, ctx)
    diffs = drafts.diffs()
    try:
        write_together(drafts.changes())
    except OSError as error:
        where = f": {shown(ctx, Path(error.filename))}" if error.filename else ""
        raise ToolFault(f"No file was changed. {error.strerror or error}{where}.", "failed") from None
    for path in drafts.paths:
        ctx.files.note(path)
    summary = counted(len(diffs), "file")
    return ToolResult("\n".join(("Done:", *drafts.told())), summary=summary, display=_preview(diffs))


def _plan(params: Params, ctx: ToolContext) -> Drafts:
    drafts = Drafts(ctx)
    try:
        for section in parse_patch(params.patch):
            drafts.take(section)
        drafts.changes()
    except ToolFault as fault:
        raise ToolFault(f"No file was changed. {fault}", fault.summary) from None
    if not drafts.paths:
        raise ToolFault("The patch would leave every file as it is; nothing to do.", "no change")
    return drafts


def _preview(diffs: tuple[Diff, ...]) -> Diff | Patch:
    return diffs[0] if len(diffs) == 1 else Patch(diffs)


def title(params: Params) -> str:
    names = list(dict.fromkeys(path for _, path in HEADERS.findall(params.patch)))
    return f"Patch {short(', '.join(names[:3]))}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")


async def action(params: Params, ctx: ToolContext) -> Action:
    drafts = await asyncio.to_thread(_plan, params, ctx)
    first, *others = map(str, drafts.paths)
    return Action("apply_patch", "edit", first, title(params), _preview(drafts.diffs()), tuple(others))


TOOL = Tool("apply_patch", "edit", Params, run, title, action, order=31)
