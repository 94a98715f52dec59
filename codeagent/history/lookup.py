"""What an id stands for, read from the session file itself: no index is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from codeagent.core.entries import Entry
from codeagent.core.errors import SessionTooNew, StoreError
from codeagent.core.messages import Message
from codeagent.history import records
from codeagent.history.pieces import archived, read_message, text_of
from codeagent.history.reading import read_lines
from codeagent.history.records import Head

_MESSAGES = re.compile(r"m(\d{1,18})(?:\s*(?:-|–|—|\.\.)\s*m?(\d{1,18}))?")
_TURN = re.compile(r"t(?:urn)?\s*(\d{1,9})")
_COMPACTION = re.compile(r"c\d{1,9}")
_HEAD = 120
_MOST = 8_000_000
"""Bytes of an archived result that are given; the file itself serves for more."""


def look_up(path: Path, id: str) -> Iterator[str]:
    """The texts that `id` stands for in the session file `path`, in order (see `Past.read`); none for an unknown id.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        if found := _MESSAGES.fullmatch(id):
            first, last = int(found[1]), int(found[2] or found[1])
            yield from _messages(path, lambda head: first <= head.number <= last, range(first, last + 1))
        elif found := _TURN.fullmatch(id):
            turn = int(found[1])
            yield from _messages(path, lambda head: head.turn == turn)
        elif _COMPACTION.fullmatch(id) and (left := _left(path, id)):
            yield from _messages(path, lambda head: head.number in left, left)
        else:
            folder = path.with_suffix("")
            text = archived(folder, id, _MOST) or archived(folder, f"{id}.txt", _MOST)
            if text is not None:
                yield text
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError("{path} cannot be read: {reason}.", path=path, reason=reason) from error


def _messages(path: Path, wanted: Callable[[Head], bool], summaries: Collection[int] = ()) -> Iterator[str]:
    """Message records that are `wanted`, and the summaries of these numbers, which stand in compaction records."""
    with path.open("rb") as file:
        for _, data in read_lines(file):
            try:
                head = records.head_of(data)
                if head.type == "message" and wanted(head):
                    line = read_message(data, path.with_suffix(""), _MOST)
                    when = f"{datetime.fromtimestamp(line.at):%Y-%m-%d %H:%M}"
                    yield f"[m{line.number} · turn {line.turn} · {line.role} · {when}]\n{line.whole}"
                elif head.type == "compaction" and summaries:
                    yield from _summaries(records.parse(data), summaries)
            except (*records.UNREADABLE, SessionTooNew):
                continue


def _summaries(fields: dict[str, Any], numbers: Collection[int]) -> Iterator[str]:
    """New messages of a compaction; one that keeps its id stands in a message record of its own."""
    for item in fields["messages"]:
        entry: Entry = records.read_entry(item, _no_wire, len)
        of = item.get("of") or ()
        if records.message_number(entry.id) in numbers and entry.id not in of:
            stands = f" for {_span(of)}" if of else ""
            yield f"[{entry.id} · turn {entry.turn} · summary{stands}]\n{text_of(entry)}"


def _left(path: Path, id: str) -> set[int]:
    """Numbers of the messages that a compaction took out or shortened."""
    with path.open("rb") as file:
        for _, data in read_lines(file):
            if b'"type":"compaction"' not in data[:_HEAD]:
                continue
            try:
                receipt = records.read_compaction(records.parse(data))
            except records.UNREADABLE:
                continue
            if receipt.id == id:
                ids = {*receipt.left, *(of for item in receipt.messages for of in item.of)}
                return {number for one in ids if (number := records.message_number(one)) is not None}
    return set()


def _span(ids: Collection[str]) -> str:
    numbers = sorted(number for id in ids if (number := records.message_number(id)) is not None)
    if not numbers:
        return "others"
    return f"m{numbers[0]}" if len(numbers) == 1 else f"m{numbers[0]}-m{numbers[-1]}"


def _no_wire(message: Message) -> bytes:
    return b""
