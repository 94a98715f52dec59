"""edit_file: one passage of a file for another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from codeagent.core.tools import Action, Diff, Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.loading import encode_as, load_for_change
from codeagent.tools.matching import Ambiguous, Edited, NotFound, apply_edit
from codeagent.tools.nearest import nearest_passage
from codeagent.tools.paths import missing, resolve, short, shown
from codeagent.tools.writing import write_atomic

_LISTED = 100


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    path: str
    old_string: str
    """The passage as it stands in the file, without line numbers, with enough lines around it to be unique."""
    new_string: str
    replace_all: bool = False
    """Replace every occurrence."""


@dataclass(frozen=True, slots=True)
class _Plan:
    path: Path
    data: bytes
    diff: Diff
    edit: Edited


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Replace a passage of a file that you have read. old_string must occur exactly once, or set replace_all."""
    return await asyncio.to_thread(_run, params, ctx)


def _run(params: Params, ctx: ToolContext) -> ToolResult:
    plan = _plan(params, ctx)
    write_atomic(plan.path, plan.data)
    ctx.files.note(plan.path)
    edit = plan.edit
    if edit.count > 1:
        text = f"Edited {plan.diff.path}: {edit.count} replacements."
    else:
        lines = (
            f"line {edit.first_line}"
            if edit.first_line == edit.last_line
            else f"lines {edit.first_line}-{edit.last_line}"
        )
        text = f"Edited {plan.diff.path}, now {lines}."
    if edit.tolerated:
        text += f" old_string differed from the file in {', '.join(edit.tolerated)}; new_string was adapted likewise."
    return ToolResult(text, summary=f"{edit.count} replacements" if edit.count > 1 else "edited", display=plan.diff)


def _plan(params: Params, ctx: ToolContext) -> _Plan:
    path = resolve(ctx, params.path)
    name = shown(ctx, path)
    if not path.exists():
        raise ToolFault(f"{missing(ctx, path)} A new file is made with write_file.", "missing")
    before, encoding = load_for_change(path, ctx)
    if not params.old_string:
        raise ToolFault("old_string is empty. Give the passage to replace, or write the whole file.", "empty")
    if params.old_string == params.new_string:
        raise ToolFault("old_string and new_string are the same; nothing to do.", "no change")
    edit = apply_edit(before, params.old_string, params.new_string, every=params.replace_all)
    match edit:
        case NotFound():
            raise ToolFault(_not_found(before, params.old_string, name), "not found")
        case Ambiguous(lines):
            listed = ", ".join(map(str, lines[:_LISTED])) + (" ..." if len(lines) > _LISTED else "")
            raise ToolFault(
                f"old_string occurs {len(lines)} times in {name}, beginning at lines {listed}. "
                "Take in more lines around the one you mean, or set replace_all.",
                "ambiguous",
            )
        case Edited():
            if edit.text == before:
                raise ToolFault(f"This would leave {name} as it is; nothing to do.", "no change")
            return _Plan(path, encode_as(edit.text, encoding, name, before), Diff(name, before, edit.text), edit)


def _not_found(text: str, old: str, name: str) -> str:
    near = nearest_passage(text, old)
    if not near:
        return f"old_string does not occur in {name}, nor anything like it. Read the file again."
    return f"old_string does not occur in {name}. The nearest passage is:\n{near}"


def title(params: Params) -> str:
    return f"Edit {short(params.path)}"


async def action(params: Params, ctx: ToolContext) -> Action:
    plan = await asyncio.to_thread(_plan, params, ctx)
    return Action("edit_file", "edit", str(plan.path), title(params), plan.diff)


TOOL = Tool("edit_file", "edit", Params, run, title, action, order=30)
