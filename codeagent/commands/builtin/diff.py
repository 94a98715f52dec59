"""/diff: what was changed in files, by the last turn, since an earlier one, or since the beginning."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.commands.going_back import preview
from codeagent.core.events import Notice
from codeagent.core.tools import Diff, Patch


async def run(args: str, context: CommandContext) -> Outcome:
    if args and args != "all" and not args.isdecimal():
        context.ui.show(Notice("/diff takes nothing (the last turn), a turn to begin with, or “all”.", {}, "warning"))
        return Done()
    since = None if not args else 1 if args == "all" else int(args)
    plan = await context.session.saved.back.undoing(since)
    if plan is None or not plan.changes:
        context.ui.show(Notice("No file was changed." if since in (None, 1) else "No file was changed since."))
        return Done()
    # Going back would change the files the other way round.
    back = await preview(context, plan)
    context.ui.show(Patch(tuple(Diff(one.path, one.after, one.before) for one in back.diffs)))
    return Done()


COMMAND = Command("diff", "Show what was changed in files.", run, arguments="[turn|all]")
