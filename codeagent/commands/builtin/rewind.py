"""/rewind: go back to before an earlier turn, in the conversation, in the files, or in both."""

from __future__ import annotations

from codeagent.commands.base import Command, CommandContext, Done, Draft, Outcome
from codeagent.commands.going_back import preview, put_back
from codeagent.core.entries import Entry
from codeagent.core.events import Notice
from codeagent.core.ui import Choice, Question, Row
from codeagent.safety.checkpoints.back import Plan

_BOTH = Choice("both", "Conversation and files")
_TALK = Choice("talk", "The conversation alone")
_FILES = Choice("files", "The files alone")
_NO = Choice("no", "Stay here")


async def run(args: str, context: CommandContext) -> Outcome:
    turns = {entry.id: entry for entry in context.session.history.entries if _opens(entry)}
    if not turns:
        context.ui.show(Notice("There is no turn to go back to yet."))
        return Done()
    changed = await context.session.saved.back.turns()
    rows = [Row(entry.id, (_line(entry), _files(changed.get(entry.turn, 0)))) for entry in reversed(turns.values())]
    picked = await context.ui.pick("Go back to before which turn?", rows)
    if picked not in turns:
        return Done()
    plan = await context.session.saved.back.undoing(turns[picked].turn)
    return await _go(context, turns[picked], plan if plan and plan.changes else None)


async def _go(context: CommandContext, entry: Entry, plan: Plan | None) -> Outcome:
    choices = (_BOTH, _TALK, _FILES, _NO) if plan else (_TALK, _NO)
    detail = "" if plan else "No file was changed since."
    diff = await preview(context, plan) if plan else None
    key = (await context.ui.ask(Question(f"Go back to before “{_line(entry)}”?", choices, diff, detail))).key
    if key in ("both", "files") and plan and await put_back(context, plan) is None:
        return Done()
    if key not in ("both", "talk"):
        return Done()
    await context.session.rewind(entry.id, files=key == "both")
    context.ui.show(Notice("The conversation goes on from before turn {turn}.", {"turn": entry.turn}))
    return Draft(entry.said or "")


def _opens(entry: Entry) -> bool:
    return entry.origin == "user" and entry.said is not None


def _line(entry: Entry, most: int = 60) -> str:
    words = " ".join((entry.said or "").split())
    return words if len(words) <= most else f"{words[:most]}…"


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}" if count else ""


COMMAND = Command("rewind", "Go back to an earlier turn: conversation, files, or both.", run)
