"""Messages rewritten for servers that want them otherwise: a fixed mapping on serialized messages.

Each output depends on the messages before it alone, so that a longer history still begins with the shorter one. The
patterns match structure, never text: inside a JSON string every quotation mark stands behind a backslash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, Literal

from codeagent.core.messages import encode_json

Ids = Literal["any", "short", "nine"]
"""Which ids of calls are taken: any, at most 40 of `[A-Za-z0-9_-]`, exactly nine letters and digits."""
Thoughts = Literal["kept", "always", "never"]
"""Reasoning in assistant messages: as they were written, in every one if only empty, in none."""

_BRIDGE = b'{"role":"assistant","content":"OK."}'
"""Between a tool's result and the user, for templates that want an answer there."""
_ID = re.compile(rb'("tool_call_id":|\{"id":)"((?:[^"\\]|\\.)*)"')
_FITS = {"short": re.compile(rb"[\w-]{1,40}"), "nine": re.compile(rb"[A-Za-z0-9]{9}")}
_REASONING = re.compile(rb',"(?:reasoning_content|reasoning|reasoning_text)":"(?:[^"\\]|\\.)*"')
_ASSISTANT = b'{"role":"assistant",'
_TOOL = b'{"role":"tool",'
_NAME = re.compile(rb'((?:,|"function":\{)"name":)"((?:[^"\\]|\\.)*)"')
_FITTING_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def with_ids(message: bytes, ids: Ids) -> bytes:
    """`message` with ids that fit; those that do not become others, the same for a call and its result."""
    if ids == "any" or not message.startswith((_ASSISTANT, _TOOL)):
        return message

    def fitting(found: re.Match[bytes]) -> bytes:
        if _FITS[ids].fullmatch(found[2]):
            return found[0]
        made = sha256(found[2]).hexdigest()[: 9 if ids == "nine" else 32]
        return found[1] + b'"' + made.encode() + b'"'

    # A result names its call first: what it holds need not be looked through.
    return _ID.sub(fitting, message, count=1 if message.startswith(_TOOL) else 0)


def fitting_name(name: str) -> str:
    """The name itself where every server takes it, else another that tells it apart: a letter, then at most 63 of
    `[A-Za-z0-9_-]`."""
    if _FITTING_NAME.fullmatch(name):
        return name
    cut = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:48].strip("_")
    return f"{cut if cut[:1].isalpha() else f't_{cut}'[:50]}_{sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def with_names(message: bytes) -> bytes:
    """`message` with names of tools that every server takes, in calls and results alike."""
    if not message.startswith((_ASSISTANT, _TOOL)):
        return message

    def fitting(found: re.Match[bytes]) -> bytes:
        name = json.loads(b'"' + found[2] + b'"')
        fits = fitting_name(name)
        return found[0] if fits == name else found[1] + b'"' + fits.encode() + b'"'

    return _NAME.sub(fitting, message, count=1 if message.startswith(_TOOL) else 0)


def named_tools(tools: bytes) -> bytes:
    """Tool schemas under names that every server takes."""
    listed = json.loads(tools)
    for tool in listed:
        tool["function"]["name"] = fitting_name(tool["function"]["name"])
    return encode_json(listed)


def without_null(message: bytes) -> bytes:
    """An assistant message whose content is empty rather than null."""
    return message.replace(b'{"role":"assistant","content":null', b'{"role":"assistant","content":""', 1)


def with_thoughts(message: bytes, thoughts: Thoughts) -> bytes:
    """An assistant message with its reasoning as the endpoint wants it."""
    if thoughts == "kept" or not message.startswith(_ASSISTANT):
        return message
    if thoughts == "never":
        return _REASONING.sub(b"", message)
    if b',"reasoning_content":"' in message:
        return message
    known = _REASONING.search(message)
    if known is not None:
        # What another endpoint called otherwise.
        value = known[0].split(b":", 1)[1]
        return message[: known.start()] + b',"reasoning_content":' + value + message[known.end() :]
    return message[:-1] + b',"reasoning_content":""}'


def system_as_user(message: bytes) -> bytes:
    return message.replace(b'{"role":"system",', b'{"role":"user",', 1)


def alternating(messages: Iterable[bytes]) -> Iterator[bytes]:
    """`messages` with neighbours of one role joined, and an answer between a tool's result and the user."""
    last: bytes | None = None
    for message in messages:
        if last is None:
            last = message
        elif (joined := _joined(last, message)) is not None:
            last = joined
        else:
            yield last
            if _role(last) == b"tool" and _role(message) == b"user":
                yield _BRIDGE
            last = message
    if last is not None:
        yield last


def _role(message: bytes) -> bytes:
    return message[9 : message.index(b'"', 9)] if message.startswith(b'{"role":"') else b""


def _joined(first: bytes, second: bytes) -> bytes | None:
    """Two messages of one role as one; None where they cannot be."""
    if _role(first) != _role(second) or _role(first) not in (b"user", b"assistant"):
        return None
    before, after = json.loads(first), json.loads(second)
    if before.get("tool_calls"):
        return None
    return encode_json({**after, "content": _content(before.get("content"), after.get("content"))})


def _content(before: Any, after: Any) -> Any:
    if isinstance(before, list) or isinstance(after, list):
        return [*_parts(before), *_parts(after)]
    return "\n\n".join(part for part in (before, after) if part) or after


def _parts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


# ---- tools ---------------------------------------------------------------------------------------------------------

_KEPT = ("type", "description", "enum", "properties", "required", "items")


def plain_tools(tools: bytes) -> bytes:
    """Tool schemas in the subset that every server takes: no references, no alternatives, no formats and bounds."""
    listed = json.loads(tools)
    for tool in listed:
        function = tool["function"]
        schema = function.get("parameters") or {}
        function["parameters"] = _plain(schema, _definitions(schema), 0)
    return encode_json(listed)


def _definitions(schema: dict[str, Any]) -> Callable[[str], Any]:
    def find(reference: str) -> Any:
        node: Any = schema
        for step in reference.removeprefix("#/").split("/"):
            node = node.get(step, {}) if isinstance(node, dict) else {}
        return node

    return find


_DEEPEST = 12
"""A schema that refers to itself ends there."""


def _plain(node: Any, find: Callable[[str], Any], depth: int) -> dict[str, Any]:
    if not isinstance(node, dict) or depth > _DEEPEST:
        return {"type": "string" if depth <= _DEEPEST else "object"}
    if isinstance(reference := node.get("$ref"), str):
        found = find(reference)
        node = {**(found if isinstance(found, dict) else {}), **{k: v for k, v in node.items() if k != "$ref"}}
    for word in ("anyOf", "oneOf", "allOf"):
        options = [one for one in node.get(word, ()) if isinstance(one, dict) and one.get("type") != "null"]
        if options:
            node = {**_plain(options[0], find, depth + 1), **{k: v for k, v in node.items() if k != word}}
    plain = {key: node[key] for key in _KEPT if key in node}
    if isinstance(plain.get("type"), list):
        plain["type"] = next((one for one in plain["type"] if one != "null"), "string")
    if "const" in node:
        plain["enum"] = [node["const"]]
    plain.setdefault("type", "object" if "properties" in plain else "array" if "items" in plain else "string")
    if plain["type"] == "array":
        plain["items"] = _plain(plain.get("items", {}), find, depth + 1)
    if isinstance(plain.get("properties"), dict):
        plain["properties"] = {name: _plain(one, find, depth + 1) for name, one in plain["properties"].items()}
    elif plain["type"] == "object":
        plain["properties"] = {}
    return plain
