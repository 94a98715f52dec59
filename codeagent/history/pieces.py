"""What a line of a session file says, as text to search and to read, and that text cut into pieces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from codeagent.core.entries import Entry
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage, scrub
from codeagent.history import records

PIECE = 2_000
"""Characters of a piece at most."""
OVERLAP = 200
"""Characters that two pieces share where no line end parts them."""
RECALL = "recall"
"""Name of the tool whose results only repeat what was said before."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message as it is searched and read."""

    number: int
    turn: int
    role: str
    """"user", "assistant", or the name of the tool that returned it."""
    at: float
    """Seconds since the epoch."""
    text: str
    """To search: of a user message what the person typed."""
    whole: str
    """To read: with what came beside that, a piped text or the output of a typed command."""


def read_message(data: bytes, archive: Path, most: int) -> Line:
    """The line of a message record; a tool result is given whole where it was archived in the folder `archive`.

    Of an archived result of more than `most` bytes the middle is left out.

    Raises:
        ValueError, RecursionError: this is no good record.
    """
    fields = records.parse(data)
    entry = records.read_entry(fields, lambda message: b"", len)
    at = datetime.fromisoformat(records.read_text(fields, "ts")).timestamp()
    whole = fields.get("archive")
    text = (archived(archive, whole, most) if isinstance(whole, str) else None) or text_of(entry)
    sent = text if entry.said is None else scrub(entry.message.text)
    return Line(records.message_number(entry.id) or 0, entry.turn, role_of(entry), at, text, sent)


def archived(folder: Path, name: str, most: int) -> str | None:
    """The text of an archived tool result, at most the first and last halves of `most` bytes; None if there is none."""
    if not name or name.startswith(".") or "\0" in name or Path(name).name != name:
        return None
    try:
        with (folder / name).open("rb") as file:
            left_out = os.fstat(file.fileno()).st_size - most
            if left_out <= 0:
                return file.read().decode("utf-8", "replace")
            head = file.read(most // 2).decode("utf-8", "ignore")
            file.seek(-(most // 2), os.SEEK_END)
            tail = file.read().decode("utf-8", "ignore")
    except OSError:
        return None
    return f"{head}\n[... {left_out} bytes left out; the whole is in {folder / name} (read_file or grep) ...]\n{tail}"


def role_of(entry: Entry) -> str:
    match entry.message:
        case ToolMessage(name=name):
            return name or "tool"
        case AssistantMessage():
            return "assistant"
        case _:
            return "user" if entry.said is not None else entry.origin


def text_of(entry: Entry) -> str:
    """What the person typed, what the model said and called, what a tool returned."""
    message = entry.message
    if entry.said is not None:
        return scrub(entry.said)
    if isinstance(message, UserMessage):
        return scrub(message.described)
    if isinstance(message, AssistantMessage):
        return scrub("\n".join([*([message.text] if message.text else ()), *map(_called, message.calls)]))
    return scrub(message.text)


def _called(call: ToolCall) -> str:
    """A call with its arguments as they are meant, not as JSON writes them."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = call.arguments
    return f"→ {call.name} {_plain(arguments)}"


def _plain(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )


def cut(text: str) -> Iterator[str]:
    """`text` in pieces, cut at line ends where they are near; blank ones are left out."""
    start = 0
    while start < len(text):
        end = start + PIECE
        after = end
        if end < len(text):
            line_end = text.rfind("\n", start + PIECE // 2, end)
            end = line_end + 1 if line_end >= 0 else end
            after = end if line_end >= 0 else end - OVERLAP
        piece = text[start:end]
        if not piece.isspace():
            yield piece
        start = after
