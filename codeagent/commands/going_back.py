"""What /undo, /redo and /rewind have in common: asking before another hand's work is overwritten, and telling."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace

from codeagent.agent.session import Session
from codeagent.commands.base import CommandContext
from codeagent.core.events import Notice
from codeagent.core.tools import Patch
from codeagent.core.ui import Choice, Question
from codeagent.safety.checkpoints.back import Plan, Restored

_NAMED = 8
_CHOICES = (
    Choice("keep", "Keep these as they are, put back the others"),
    Choice("over", "Overwrite them (/redo brings them back)"),
    Choice("no", "Leave everything as it is"),
)


async def put_back(context: CommandContext, plan: Plan) -> Restored | None:
    """Carry out `plan` and say what came of it; None when the person changed their mind."""
    over = False
    if plan.foreign:
        key = await _asked(context, plan)
        if key not in ("keep", "over"):
            context.ui.show(Notice("Nothing was changed."))
            return None
        over = key == "over"
    restored = await context.session.put_back(plan, over=over)
    for notice in _told(plan, restored, context.session):
        context.ui.show(notice)
    return restored


async def preview(context: CommandContext, plan: Plan) -> Patch:
    """The change of the files as a diff."""
    back = context.session.saved.back
    return await asyncio.to_thread(back.preview, plan, lambda path: shown(path, context.session))


def shown(path: str, session: Session) -> str:
    """A path as the person knows it: below the session's folder without that."""
    below = os.path.relpath(path, session.history.session.cwd)
    return path if below.startswith("..") else below


async def _asked(context: CommandContext, plan: Plan) -> str:
    if not context.ui.interactive:
        return "keep"
    strange = replace(plan, changes=tuple(one for one in plan.changes if one.path in plan.foreign))
    detail = f"Changed since by you or another program: {names(sorted(plan.foreign), context.session)}"
    patch = await preview(context, strange)
    return (await context.ui.ask(Question("Overwrite what was changed since?", _CHOICES, patch, detail))).key


def _told(plan: Plan, restored: Restored, session: Session) -> list[Notice]:
    paths = [one.path for one in restored.done]
    turns = ", ".join(map(str, restored.turns))
    told = []
    if paths:
        message = "Taken back, turn {turns}: {names}. /redo does it again."
        if plan.kind == "redo":
            message = "Done again, turn {turns}: {names}. /undo takes it back."
        told.append(Notice(message, {"turns": turns, "names": names(paths, session)}))
    elif not restored.left and not restored.refused:
        told.append(Notice("The files of turn {turns} are as they were already.", {"turns": turns}))
    if restored.left:
        told.append(Notice("Kept as you changed them: {names}.", {"names": names(restored.left, session)}, "warning"))
    told += [
        Notice("{name} stays as it is: {why}.", {"name": shown(one.path, session), "why": one.why}, "warning")
        for one in restored.refused[:_NAMED]
    ]
    if len(restored.refused) > _NAMED:
        told.append(Notice("{count} more stay as they are.", {"count": len(restored.refused) - _NAMED}, "warning"))
    return told


def names(paths: Sequence[str], session: Session) -> str:
    listed = ", ".join(shown(path, session) for path in paths[:_NAMED])
    return listed if len(paths) <= _NAMED else f"{listed} and {len(paths) - _NAMED} more"
