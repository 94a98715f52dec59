"""/compact: make the context smaller now, look at the last time, take it back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codeagent.commands.base import Command, CommandContext, Done, Outcome, Play
from codeagent.core.entries import Compaction
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Notice
from codeagent.core.ui import Table

_HOW = {
    0: "the oldest or least important messages were left out",
    1: "old tool results were masked",
    2: "everything before the newest turns was summarised",
    3: "the finished part of the running turn was summarised",
    4: "the request could not be sent: more was summarised, and results were shortened",
}


_LISTED = 12
"""Agreements of a kind that are shown."""


async def run(args: str, context: CommandContext) -> Outcome:
    if args == "show":
        _show(context)
    elif args == "undo":
        await _undo(context)
    else:
        return Play(context.session.compact(args or None))
    return Done()


def _show(context: CommandContext) -> None:
    receipt = context.session.history.receipt
    if receipt is None:
        context.ui.show(Notice("Nothing has been compacted in this session."))
        return
    stays = [entry.id for entry in context.session.history.entries]
    context.ui.show(Table(("compaction", receipt.id), tuple(_rows(receipt, stays))))


def _rows(receipt: Compaction, stays: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "how", _HOW.get(receipt.rung, "")
    yield "tokens", f"{receipt.tokens_before:,} → {receipt.tokens_after:,}"
    yield "left", _span(receipt.left)
    yield "in the context now", _span(stays)
    if receipt.held or receipt.unheld:
        back = f", {len(receipt.repaired)} of them put back by code" if receipt.repaired else ""
        yield "agreements", f"{receipt.held} held{back}"
    if receipt.coverage is not None:
        yield "in the summary itself", f"{receipt.coverage:.0%} of what must be kept"
    yield from _listed("put back", receipt.repaired)
    yield from _listed("not held", receipt.unheld)
    if receipt.failure:
        yield "no summary", receipt.failure
    if receipt.focus:
        yield "focus", receipt.focus
    yield "undo", "/compact undo brings the exact messages back; recall and /search find what left"


def _listed(what: str, all: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield from ((what, one) for one in all[:_LISTED])
    if len(all) > _LISTED:
        yield what, f"... {len(all) - _LISTED:,} more"


def _span(ids: Sequence[str]) -> str:
    """How many, and which where they are in order; a summary may stand before older messages."""
    if len(ids) < 2:
        return f"1 message: {ids[0]}" if ids else "nothing"
    first, *_, last = sorted(ids, key=lambda id: [int(number) for number in re.findall(r"\d+", id)])
    return f"{len(ids)} messages: {first} to {last}"


async def _undo(context: CommandContext) -> None:
    try:
        receipt = await context.session.undo_compaction()
    except CodeAgentError as error:
        context.ui.show(Notice("{error}", {"error": str(error)}, "warning"))
        return
    context.ui.show(
        Notice(
            "Compaction {id} is taken back: the exact messages are in the context again. Automatic compaction rests "
            "until the hard limit of {limit:,} tokens.",
            {"id": receipt.id, "limit": context.session.model.budget.hard_limit},
        )
    )


COMMAND = Command("compact", "Summarise the conversation so far.", run, arguments="[what to focus on|show|undo]")
