"""Examine a session file line by line, and write a mended copy of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codeagent.core.entries import Entry
from codeagent.core.errors import SessionError, StoreError
from codeagent.core.messages import (
    INTERRUPTED,
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    encode,
    encode_json,
)
from codeagent.history import records
from codeagent.history.archive import share_archive
from codeagent.history.catalog import mended_id
from codeagent.history.folding import without
from codeagent.history.reading import read_lines
from codeagent.history.records import Head, SessionInfo, message_number


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; `kind`: damaged, missing, torn, orphan (a result without its call), unanswered."""

    kind: str
    line: int
    """Number of the line, from 1."""
    detail: str


def check(path: Path) -> list[Fault]:
    """Everything that is wrong with a session file, in order; calls still open at its end are nothing wrong.

    Raises:
        SessionTooNew
        StoreError: it cannot be read.
    """
    walk = _Walk()
    try:
        for _ in walk.records(path):
            pass
    except OSError as error:
        raise StoreError("{path} cannot be read: {reason}.", path=path, reason=error.strerror or str(error)) from error
    return sorted(walk.faults, key=lambda fault: fault.line)


def write_mended(path: Path) -> Path:
    """Write `<id>-mended.jsonl` beside the file, a session of its own, and return its path; the file stays as it is.

    Damaged lines and orphaned results are left out, lost results given as interrupted, the lines numbered anew.

    Raises:
        SessionError: there is such a file already.
        StoreError: the disk refuses.
    """
    target = path.with_name(f"{mended_id(path.stem)}.jsonl")
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise SessionError("There is a session {id} already.", id=target.stem) from error
    except OSError as error:
        raise _refused(target, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(_mended(path, target.stem))
        share_archive(path, target)
    except OSError as error:
        target.unlink(missing_ok=True)
        raise _refused(target, error) from error
    return target


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or str(error))


@dataclass(frozen=True, slots=True)
class _Record:
    head: Head
    fields: dict[str, Any]
    lost: tuple[ToolCall, ...] = ()
    """Calls whose results ought to have come before this record."""
    turn: int = 0
    """Of these calls."""


@dataclass(slots=True)
class _Walk:
    """One reading of a file; what is wrong gathers in `faults`."""

    faults: list[Fault] = field(default_factory=list)
    highest: int = 0
    """n of the highest message id."""
    _waiting: list[ToolCall] = field(default_factory=list)
    _caller: tuple[int, int] = (0, 0)
    """Line and turn of the message that made the waiting calls."""

    def records(self, path: Path) -> Iterator[_Record]:
        number, expected, end = 0, 1, 0
        with path.open("rb") as file:
            for number, (offset, data) in enumerate(read_lines(file), 1):
                end = offset + len(data)
                try:
                    head, fields, message = _read(data)
                except records.UNREADABLE as error:
                    self.faults.append(Fault("damaged", number, str(error)))
                    expected += 1
                    continue
                if head.seq != expected:
                    self.faults.append(Fault("missing", number, f"{expected} .. {head.seq - 1}"))
                expected = head.seq + 1
                self.highest = max(self.highest, head.number)
                if (record := self._paired(number, head, fields, message)) is not None:
                    yield record
            torn = os.fstat(file.fileno()).st_size - end
        if not number and not torn:
            self.faults.append(Fault("missing", 1, "everything"))
        if torn:
            self.faults.append(Fault("torn", number + 1, f"{torn} bytes"))

    def _paired(self, line: int, head: Head, fields: dict[str, Any], message: Message | None) -> _Record | None:
        if isinstance(message, ToolMessage):
            rest = without(self._waiting, message.call_id)
            if len(rest) == len(self._waiting):
                self.faults.append(Fault("orphan", line, message.call_id))
                return None
            self._waiting = rest
        elif message is not None or head.type in ("prompt", "compaction", "undo"):
            lost, (caller, turn) = tuple(self._waiting), self._caller
            self.faults += (Fault("unanswered", caller, call.id) for call in lost)
            self._waiting = list(message.calls) if isinstance(message, AssistantMessage) else []
            self._caller = line, head.turn
            return _Record(head, fields, lost, turn)
        return _Record(head, fields)


def _read(data: bytes) -> tuple[Head, dict[str, Any], Message | None]:
    """A line read whole, by the reader of its type.

    Raises:
        ValueError, RecursionError: it is damaged.
        SessionTooNew
    """
    head = records.head_of(data)
    fields = records.parse(data)
    records.read_text(fields, "ts")
    match head.type:
        case "message":
            return head, fields, records.read_entry(fields, encode, len).message
        case "session":
            records.read_session(fields)
        case "prompt":
            records.read_prompt(fields)
        case "usage":
            records.read_usage(fields)
        case "compaction":
            receipt = records.read_compaction(fields)
            highest = max((message_number(item.id) or 0 for item in receipt.messages), default=0)
            return replace(head, number=highest), fields, None
        case "undo":
            records.read_text(fields, "of")
        case "rename":
            records.read_text(fields, "name")
    return head, fields, None


def _mended(path: Path, id: str) -> Iterator[bytes]:
    """The lines of the copy: one reading for what they build on, one for the lines."""
    survey = _Walk()
    sessions = [record.fields for record in survey.records(path) if record.head.type == "session"]
    info = records.read_session(sessions[0]) if sessions else SessionInfo(id, path.parent.name, "", "", "")
    stamp = records.stamp(info.created)
    yield records.line(1, stamp, records.session_body(replace(info, id=id, parent=path.stem)))
    seq, highest = 1, survey.highest
    for record in _Walk().records(path):
        if record.head.type == "session":
            continue
        for call in record.lost:
            seq, highest = seq + 1, highest + 1
            message = ToolMessage(call.id, call.name, INTERRUPTED)
            entry = Entry(f"m{highest}", record.turn, message, encode(message), 0, "tool")
            body = records.message_body(entry, {"failed": True, "partial": False})
            yield records.line(seq, record.fields["ts"], body)
        seq += 1
        first = {"v": records.VERSION, "seq": seq, "ts": record.fields["ts"], "type": record.head.type}
        rest = {key: value for key, value in record.fields.items() if key not in first}
        yield encode_json(first | rest) + b"\n"
