"""What was said: the four kinds of message and their chat-completions wire form.

`to_wire`/`from_wire` are inverse but for reasoning, which a `WireShape` may leave out; `encode` gives the very bytes
that stand in the journal and in every request, so that a message is serialized once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from codeagent.core.images import Image

_SURROGATES = re.compile("[\ud800-\udfff]")
INTERRUPTED = "(interrupted)"
WRITTEN = "text_"
"""How the ids of calls begin that a model wrote as text: the mark stays with them on disk and on the wire."""
_NO_JSON = "invalid_json"
_PICTURE = b'{"type":"image_url",'


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model wants made; `arguments` is the JSON text just as the model wrote it ("{}" if empty)."""

    id: str
    name: str
    arguments: str = "{}"

    @property
    def written(self) -> bool:
        """Whether it was read from the text of a reply: nothing of the kind runs without a yes."""
        return self.id.startswith(WRITTEN)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking text and the key it came in (`reasoning_content`, `reasoning`), which some endpoints want echoed."""

    text: str
    key: str = "reasoning_content"
    by: str = field(default="", compare=False)
    """The model that thought so, "" where that is not known: it is no part of what was said."""


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    images: tuple[Image, ...] = ()

    @property
    def described(self) -> str:
        """The text, and what there is to see behind it."""
        return "\n".join(part for part in (self.text, *(image.caption for image in self.images)) if part)


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: Reasoning | None = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    call_id: str
    name: str
    text: str


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class WireShape:
    """How one endpoint wants messages written: a fixed mapping per message, changed at safe points only."""

    echo_reasoning: bool = False
    """Send the reasoning of assistant messages back under the key it came in."""
    empty_content: Literal["null", "empty"] = "null"
    """The `content` of an assistant message that has tool calls and no text."""
    model: str = ""
    """Who reads them: the reasoning of another model is not echoed ("" for anybody)."""

    def echoes(self, reasoning: Reasoning | None) -> bool:
        foreign = reasoning is not None and reasoning.by and self.model and reasoning.by != self.model
        return self.echo_reasoning and reasoning is not None and not foreign


PLAIN = WireShape()


def spoken(message: AssistantMessage) -> AssistantMessage:
    """`message` with its reasoning as its text, where it has nothing else."""
    if message.calls or message.text.strip() or message.reasoning is None:
        return message
    return AssistantMessage(message.reasoning.text)


def scrub(text: str) -> str:
    """Replace lone surrogates, which no endpoint and no UTF-8 file accepts."""
    return _SURROGATES.sub("\ufffd", text)


def to_wire(message: Message, shape: WireShape = PLAIN) -> dict[str, Any]:
    """The chat-completions form of `message`."""
    match message:
        case SystemMessage(text):
            return {"role": "system", "content": text}
        case UserMessage(text, images):
            return {"role": "user", "content": _parts(text, images) if images else text}
        case ToolMessage(call_id, name, text):
            return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
        case AssistantMessage(text, calls, reasoning):
            empty = None if calls and shape.empty_content == "null" else ""
            wire: dict[str, Any] = {"role": "assistant", "content": text or empty}
            if reasoning is not None and shape.echoes(reasoning):
                wire[reasoning.key] = reasoning.text
            if calls:
                wire["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _sent(call)}}
                    for call in calls
                ]
            return wire


def from_wire(wire: Mapping[str, Any], reasoning: Reasoning | None = None) -> Message:
    """Read a chat-completions message back; reasoning is given apart, as the journal keeps it.

    Raises:
        ValueError: the role is unknown or a needed field is missing or of a wrong type.
    """
    role, content = wire.get("role"), wire.get("content")
    text = _text(content)
    try:
        if role == "system":
            return SystemMessage(text)
        if role == "user":
            return _user(content) if isinstance(content, list) else UserMessage(text)
        if role == "tool":
            return ToolMessage(str(wire["tool_call_id"]), str(wire.get("name") or ""), text)
        if role == "assistant":
            calls = tuple(
                ToolCall(str(raw["id"]), str(raw["function"]["name"]), _written(str(raw["function"]["arguments"])))
                for raw in wire.get("tool_calls") or ()
            )
            return AssistantMessage(text, calls, reasoning)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a {role} message lacks {error}") from error
    raise ValueError(f"unknown role {role!r}")


def _sent(call: ToolCall) -> str:
    """The arguments as an endpoint takes them back: what is no JSON object, and so never ran, as a string in one.

    Many servers parse what they are sent, and refuse the whole request for one call that was cut.
    """
    return call.arguments if _is_object(call.arguments) else json.dumps({_NO_JSON: call.arguments}, ensure_ascii=False)


def _written(arguments: str) -> str:
    """The arguments as the model wrote them: the inverse of `_sent`."""
    if not arguments.startswith(f'{{"{_NO_JSON}": '):
        return arguments
    try:
        match json.loads(arguments):
            case {"invalid_json": str(written), **more} if not more and not _is_object(written):
                return written
    except (ValueError, RecursionError):
        pass
    return arguments


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parts(text: str, images: Sequence[Image]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [_text_part(text)] if text else []
    for image in images:
        parts += [_text_part(image.caption)] if image.caption else []
        parts.append({"type": "image_url", "image_url": {"url": image.url}})
    return parts


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _user(parts: Sequence[object]) -> UserMessage:
    """The inverse of `_parts`; in what others wrote, the text right before a picture counts as its caption too."""
    texts: list[str] = []
    images: list[Image] = []
    for part in parts:
        if not isinstance(part, Mapping):
            continue
        source = part.get("image_url")
        if isinstance(source, Mapping):
            images.append(Image(texts.pop() if texts else "", str(source.get("url", ""))))
        else:
            texts.append(str(part.get("text", "")))
    return UserMessage("".join(texts), tuple(images))


def unseen(message: UserMessage, why: str = "not shown here") -> UserMessage:
    """The same with a note in the place of each picture."""
    notes = tuple(f"{image.caption} ({why})" for image in message.images)
    return UserMessage("\n".join(part for part in (message.text, *notes) if part))


def has_images(data: bytes) -> bool:
    """Whether a serialized message carries pictures."""
    return data.startswith(b'{"role":"user","content":[') and _PICTURE in data


def blind(data: bytes) -> bytes:
    """A serialized message for whoever sees no pictures; one without any as it is."""
    if not has_images(data):
        return data
    message = from_wire(json.loads(data))
    return encode(unseen(message)) if isinstance(message, UserMessage) else data


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    raise ValueError("content is neither text nor a list of parts")


def encode_json(value: object) -> bytes:
    """Compact UTF-8 JSON on one line for every reader of lines: U+2028/2029 and lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if "\u2028" in text or "\u2029" in text:
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def encode(message: Message, shape: WireShape = PLAIN) -> bytes:
    """The bytes of one message, as journal and request carry them."""
    return encode_json(to_wire(message, shape))
