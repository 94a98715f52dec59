"""The rules about lists of messages: how a compaction folds one, and how calls and results stay paired. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from codeagent.core.entries import Entry, Replacement
from codeagent.core.messages import INTERRUPTED, AssistantMessage, ToolCall, ToolMessage
from codeagent.core.ports import Estimate
from codeagent.history.records import Encode, message_number

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def fold(items: Iterable[T], key: Callable[[T], K], replacements: Iterable[tuple[T, Sequence[K]]]) -> list[T]:
    """Put each replacement where the first of what it stands for stood, and take out all that any stands for.

    One that stands for nothing present comes right behind the replacement before it, the first of all at the front.
    """
    items, replacements = list(items), list(replacements)
    present = {key(item) for item in items}
    gone = {id for _, of in replacements for id in of}
    placed: dict[K | None, list[T]] = {None: []}
    place: K | None = None
    for new, of in replacements:
        place = next((id for id in of if id in present), place)
        placed.setdefault(place, []).append(new)
    result = placed[None]
    for item in items:
        id = key(item)
        result += placed.get(id, ())
        if id not in gone:
            result.append(item)
    return result


def made_up(id: str | None) -> bool:
    """Whether an id is that of a result that `mend` made up: it is on no line, so it cannot be rewritten."""
    return id is not None and message_number(id) is None


def stand_ins(
    entries: Sequence[Entry], replacements: Sequence[Replacement], last: int, encode: Encode, estimate: Estimate
) -> list[Entry]:
    """Entries for replacements: a kept id keeps turn, origin and words; a new one, counted from `last`, is a summary.

    Raises:
        ValueError: an id is to be kept that is not in the list, or by what does not stand for it.
    """
    before = {entry.id: entry for entry in entries}
    turn = entries[0].turn if entries else 0
    new: list[Entry] = []
    for item in replacements:
        turn = next((before[id].turn for id in item.of if id in before), turn)
        wire = encode(item.message)
        tokens = estimate(wire)
        if item.id is None:
            last += 1
            new.append(Entry(f"m{last}", turn, item.message, wire, tokens, "summary"))
        elif item.id in item.of and item.id in before:
            new.append(replace(before[item.id], message=item.message, wire=wire, tokens=tokens))
        else:
            raise ValueError("an id is kept only by what stands for it")
    return new


def open_calls(entries: Iterable[Entry]) -> list[ToolCall]:
    """Calls at the end of the list that still wait for their result, in order."""
    waiting: list[ToolCall] = []
    for entry in entries:
        match entry.message:
            case AssistantMessage(calls=calls):
                waiting = list(calls)
            case ToolMessage(call_id=id):
                waiting = without(waiting, id)
            case _:
                waiting = []
    return waiting


def without(waiting: list[ToolCall], call_id: str) -> list[ToolCall]:
    """`waiting` less the first call of that id."""
    for index, call in enumerate(waiting):
        if call.id == call_id:
            return waiting[:index] + waiting[index + 1 :]
    return waiting


def mend(entries: Sequence[Entry], encode: Encode, estimate: Estimate) -> list[Entry]:
    """The list with every call answered at once and every result called for, but for calls open at its very end.

    A result that is lost is given as interrupted, under the id of the message that calls for it and a number
    ("m7.1"); a result whose call is lost stays on disk alone.
    """
    mended: list[Entry] = []
    waiting: list[ToolCall] = []
    caller: Entry | None = None
    for entry in entries:
        message = entry.message
        if isinstance(message, ToolMessage):
            rest = without(waiting, message.call_id)
            if len(rest) < len(waiting):
                mended.append(entry)
                waiting = rest
            continue
        if caller is not None:
            mended += (_lost(caller, number, call, encode, estimate) for number, call in enumerate(waiting, 1))
        mended.append(entry)
        caller, waiting = (entry, list(message.calls)) if isinstance(message, AssistantMessage) else (None, [])
    return mended


def _lost(caller: Entry, number: int, call: ToolCall, encode: Encode, estimate: Estimate) -> Entry:
    message = ToolMessage(call.id, call.name, INTERRUPTED)
    wire = encode(message)
    return Entry(f"{caller.id}.{number}", caller.turn, message, wire, estimate(wire), "tool")
