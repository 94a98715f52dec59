"""The lines of a session file: written by hand around the very bytes of a message, read back with their types checked.

A line is `{"v":1,"seq":n,"ts":"…Z","type":T,` and then the record's own keys; message records begin with `id` and
`turn`, so that most of a long file can be judged by the head of its lines.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, get_args

from codeagent.core.entries import Compaction, Entry, Origin, Prompt, Replacement, Usage
from codeagent.core.errors import SessionTooNew
from codeagent.core.messages import AssistantMessage, Message, Reasoning, encode_json, from_wire
from codeagent.core.ports import Estimate

VERSION = 1
HEAD = re.compile(
    rb'\{"v":(\d{1,9}),"seq":(\d{1,18}),"ts":"[^"\\]{0,40}","type":"([a-z_]{1,40})"'
    rb'(?:,"id":"m(\d{1,18})","turn":(\d{1,9}),)?'
)
_MESSAGE_ID = re.compile(r"m(\d{1,18})", re.ASCII)
_ORIGINS: tuple[Origin, ...] = get_args(Origin)
_ORIGIN_OF_ROLE: dict[str, Origin] = {"user": "user", "assistant": "model", "tool": "tool", "system": "system"}

Encode = Callable[[Message], bytes]
UNREADABLE = (ValueError, RecursionError)
"""What the readers raise for a line that is no good record."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The first line of a session file."""

    id: str
    project_id: str
    cwd: str
    model: str
    version: str
    """Version of the program that began it."""
    name: str | None = None
    parent: str | None = None
    """Session it was forked from."""
    created: float = 0.0
    """Seconds since the epoch, to the millisecond; given by the history."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a line tells."""

    seq: int
    type: str
    number: int = 0
    """Of a message record: n of its id "mn"; 0 for any other."""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """What one reply cost; `number` is that of the reply's message."""

    number: int
    usage: Usage
    cost_usd: float | None
    purpose: str = ""
    """What a request beside the conversation was for ("summary"): its usage says nothing about the next request."""
    model: str = ""
    """Who was paid ("" for the model that the session began with)."""


# ---- times and ids -------------------------------------------------------------------------------------------------


def stamp(seconds: float) -> str:
    """`2026-01-31T12:00:00.250Z`."""
    milliseconds = round(seconds * 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03d}Z"


def message_number(id: object) -> int | None:
    """n of a message id "mn"; None for anything else."""
    found = _MESSAGE_ID.fullmatch(id) if isinstance(id, str) else None
    return int(found[1]) if found else None


# ---- writing -------------------------------------------------------------------------------------------------------


def line(seq: int, ts: str, body: bytes) -> bytes:
    """A whole line, its newline included."""
    return b'{"v":%d,"seq":%d,"ts":"%s",%s\n' % (VERSION, seq, ts.encode(), body)


def body(type: str, fields: Mapping[str, object]) -> bytes:
    """The rest of a line from `type` on; fields that are None are left out."""
    given = {"type": type} | {key: value for key, value in fields.items() if value is not None}
    return encode_json(given)[1:]


def session_body(info: SessionInfo) -> bytes:
    keys = ("id", "project_id", "cwd", "model", "version", "name", "parent")
    return body("session", {key: getattr(info, key) for key in keys})


def prompt_body(prompt: Prompt, reason: str) -> bytes:
    head = body("prompt", {"reason": reason, "digest": prompt.digest, "system": prompt.system})
    return head[:-1] + b',"tools":' + prompt.tools + b"}"


def message_body(entry: Entry, result: Mapping[str, object]) -> bytes:
    """`result`: failed, partial, archive, ms of a tool's answer."""
    about = {"id": entry.id, "turn": entry.turn, "origin": entry.origin, **result}
    head = body("message", {**about, "said": entry.said, "piped": entry.piped or None})
    return head[:-1] + _message_tail(entry)


def compaction_body(receipt: Compaction, entries: Sequence[Entry]) -> bytes:
    """`entries` are the replacements as they join the list, in the order of `receipt.messages`."""
    keys = ("id", "rung", "first_kept", "tokens_before", "tokens_after")
    more = ("left", "repaired", "coverage", "digest", "focus")
    head = {key: getattr(receipt, key) for key in keys + more}
    head |= {"held": receipt.held or None, "unheld": receipt.unheld or None, "failure": receipt.failure or None}
    pieces = []
    for entry, replacement in zip(entries, receipt.messages, strict=True):
        about: dict[str, object] = {"id": entry.id, "of": replacement.of, "turn": entry.turn, "origin": entry.origin}
        if entry.said is not None:
            about["said"] = entry.said
        pieces.append(encode_json(about)[:-1] + _message_tail(entry))
    return body("compaction", head)[:-1] + b',"messages":[' + b",".join(pieces) + b"]}"


def usage_body(
    id: str,
    usage: Usage,
    estimated: int | None,
    cost_usd: float | None,
    purpose: str | None = None,
    model: str | None = None,
) -> bytes:
    """`model`: who was paid, where it was not the session's first."""
    fields = {"message": id, **asdict(usage), "estimated": estimated, "cost_usd": cost_usd}
    return body("usage", fields | {"purpose": purpose, "model": model})


def _message_tail(entry: Entry) -> bytes:
    """The last keys of an object about `entry`; reasoning always, whether or not the wire form echoes it."""
    message = entry.message
    if isinstance(message, AssistantMessage) and message.reasoning is not None:
        kept = message.reasoning
        reasoning = encode_json({"key": kept.key, "text": kept.text} | ({"by": kept.by} if kept.by else {}))
        return b',"message":' + entry.wire + b',"reasoning":' + reasoning + b"}"
    return b',"message":' + entry.wire + b"}"


# ---- reading -------------------------------------------------------------------------------------------------------


def head_of(data: bytes) -> Head:
    """Judge a whole line by its two ends; lines that were formatted by another hand are parsed.

    Raises:
        ValueError: this is no record.
        SessionTooNew: a newer version wrote it.
    """
    found = HEAD.match(data)
    if found and data.endswith(b"}\n"):
        version, seq, type, number, turn = found.groups()
        if type != b"message" or number:
            _know(int(version))
            return Head(int(seq), type.decode(), int(number or 0), int(turn or 0))
    fields = parse(data)
    _know(_need(fields, "v", int))
    kind = _need(fields, "type", str)
    number, turn = 0, 0
    if kind == "message":
        number, turn = _number(fields.get("id")), _need(fields, "turn", int)
    return Head(_need(fields, "seq", int), kind, number, turn)


def _know(version: int) -> None:
    if version > VERSION:
        raise SessionTooNew(
            "This session was written by a newer version of codeagent (format {version}); please update.",
            version=version,
        )


def parse(data: bytes) -> dict[str, Any]:
    """The fields of a line.

    Raises:
        ValueError: it is no JSON object.
    """
    fields = json.loads(data)
    if not isinstance(fields, dict):
        raise ValueError("not an object")
    return fields


def read_session(fields: Mapping[str, Any]) -> SessionInfo:
    """Raises: ValueError, as all readers here, when a needed field is missing or of a wrong type."""
    return SessionInfo(
        id=_need(fields, "id", str),
        project_id=_need(fields, "project_id", str),
        cwd=_need(fields, "cwd", str),
        model=_need(fields, "model", str),
        version=_need(fields, "version", str),
        name=_may(fields, "name", str),
        parent=_may(fields, "parent", str),
        created=datetime.fromisoformat(_need(fields, "ts", str)).timestamp(),
    )


def read_prompt(fields: Mapping[str, Any]) -> Prompt:
    tools = encode_json(_need(fields, "tools", list))
    return Prompt(_need(fields, "system", str), tools, _need(fields, "digest", str))


def read_entry(fields: Mapping[str, Any], encode: Encode, estimate: Estimate) -> Entry:
    """The entry of a message record, or of one of a compaction's messages."""
    raw = _need(fields, "message", dict)
    kept = _may(fields, "reasoning", dict)
    message = from_wire(raw, None if kept is None else _reasoning(kept))
    wire = encode(message)
    return Entry(
        id=f"m{_number(fields.get('id'))}",
        turn=_need(fields, "turn", int),
        message=message,
        wire=wire,
        tokens=estimate(wire),
        origin=_origin(fields.get("origin"), raw["role"]),
        said=_may(fields, "said", str),
        piped=fields.get("piped") is True,
    )


def read_compaction(fields: Mapping[str, Any]) -> Compaction:
    return Compaction(
        id=_need(fields, "id", str),
        rung=_need(fields, "rung", int),
        first_kept=_need(fields, "first_kept", str),
        messages=tuple(_replacement(item) for item in _need(fields, "messages", list)),
        tokens_before=_need(fields, "tokens_before", int),
        tokens_after=_need(fields, "tokens_after", int),
        left=_ids(fields, "left"),
        repaired=_ids(fields, "repaired"),
        coverage=_may(fields, "coverage", (int, float)),
        digest=_need(fields, "digest", str),
        focus=_may(fields, "focus", str),
        held=_may(fields, "held", int) or 0,
        unheld=_ids(fields, "unheld") if "unheld" in fields else (),
        failure=_may(fields, "failure", str) or "",
    )


def read_usage(fields: Mapping[str, Any]) -> UsageRecord:
    counts = (_need(fields, key, int) for key in ("prompt_tokens", "completion_tokens", "cached_tokens"))
    cost = _may(fields, "cost_usd", (int, float))
    return UsageRecord(
        _number(fields.get("message")),
        Usage(*counts),
        None if cost is None else float(cost),
        _may(fields, "purpose", str) or "",
        _may(fields, "model", str) or "",
    )


def read_text(fields: Mapping[str, Any], key: str) -> str:
    text: str = _need(fields, key, str)
    return text


def _reasoning(fields: Mapping[str, Any]) -> Reasoning:
    return Reasoning(_need(fields, "text", str), _need(fields, "key", str), _may(fields, "by", str) or "")


def _origin(value: object, role: str) -> Origin:
    return next((origin for origin in _ORIGINS if origin == value), _ORIGIN_OF_ROLE[role])


def _replacement(item: object) -> Replacement:
    if not isinstance(item, dict):
        raise ValueError("a replacement is no object")
    entry = read_entry(item, lambda message: b"", len)
    return Replacement(entry.message, _ids(item, "of"), entry.id)


def _ids(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    ids = _need(fields, key, list)
    if not all(isinstance(id, str) for id in ids):
        raise ValueError(f"{key} holds something that is no id")
    return tuple(ids)


def _number(id: object) -> int:
    number = message_number(id)
    if number is None:
        raise ValueError(f"{id!r} is no message id")
    return number


def _need(fields: Mapping[str, Any], key: str, kind: type | tuple[type, ...]) -> Any:
    value = fields.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{key} is missing or of a wrong type")
    return value


def _may(fields: Mapping[str, Any], key: str, kind: type | tuple[type, ...]) -> Any:
    return None if fields.get(key) is None else _need(fields, key, kind)
