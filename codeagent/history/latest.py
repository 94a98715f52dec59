"""The newest call of a tool that still counts: what the session file remembers where the context no longer does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codeagent.core.messages import AssistantMessage, ToolMessage, encode_json, from_wire
from codeagent.history import records
from codeagent.history.reading import read_lines

_HEAD = 120
"""Bytes of a line in which its type stands."""


def last_call(path: Path, tool: str) -> str | None:
    """Arguments of the newest call of `tool` that succeeded and was neither cleared away nor taken back.

    None when there is none; what cannot be read does not count.
    """
    scan = _Scan(tool)
    name = b'"name":' + encode_json(tool)
    try:
        with path.open("rb") as file:
            for _, data in read_lines(file):
                if name in data or b'"type":"undo"' in data[:_HEAD] or b'"type":"prompt"' in data[:_HEAD]:
                    scan.take(data)
    except OSError:
        pass
    return scan.done[-1][1] if scan.done else None


@dataclass(slots=True)
class _Scan:
    tool: str
    done: list[tuple[int, str]] = field(default_factory=list)
    """(number of the message with the result, arguments) of every call that counts."""
    _open: dict[str, str] = field(default_factory=dict)

    def take(self, data: bytes) -> None:
        try:
            fields = records.parse(data)
            match fields.get("type"):
                case "message":
                    self._message(fields)
                case "prompt" if fields.get("reason") == "clear":
                    self.done.clear()
                case "undo" if (back := records.message_number(fields.get("of"))) is not None:
                    self.done = [(number, arguments) for number, arguments in self.done if number < back]
        except records.UNREADABLE:
            return

    def _message(self, fields: dict[str, Any]) -> None:
        match from_wire(fields["message"]) if isinstance(fields.get("message"), dict) else None:
            case AssistantMessage(calls=calls):
                self._open = {call.id: call.arguments for call in calls if call.name == self.tool}
            case ToolMessage(call_id=id) if id in self._open:
                arguments, number = self._open.pop(id), records.message_number(fields.get("id"))
                if not fields.get("failed") and number is not None:
                    self.done.append((number, arguments))
