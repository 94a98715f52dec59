"""What the wire wants, by endpoint and model. Data, and the function that writes a request's body from it.

Bodies are minimal: what some endpoint refuses is sent only where it is known to be welcome, and a refusal that names
one of our optional fields drops it (`without`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from codeagent.core.messages import PLAIN, WireShape, blind, encode_json
from codeagent.core.ports import Endpoint, Request
from codeagent.llm.presets import parts
from codeagent.llm.shaping import (
    Ids,
    Thoughts,
    alternating,
    named_tools,
    plain_tools,
    system_as_user,
    with_ids,
    with_names,
    with_thoughts,
    without_null,
)

LimitField = Literal["max_tokens", "max_completion_tokens"]
Efforts = Mapping[str, Mapping[str, Any]]


def _says(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_WANTS_THOUGHTS = _says(
    r"(missing|requires?|provide|pass)\W.{0,40}reasoning_content", r"reasoning_content\W.{0,60}(must|missing|required)"
)
_NO_THOUGHTS = _says(
    r"(unknown|unexpected|extra|unsupported|unrecognized)[^.]{0,60}\breasoning(_content)?\b",
    r"\breasoning(_content)?\b[^.]{0,60}(not (permitted|allowed|supported)|unknown|unsupported|extra)",
)
_NINE = _says(r"tool.?call.{0,80}(length of 9|9 (char|alphanum))")
_SHORT = _says(r"(tool_calls?|tool_use|call_?id).{0,80}(maximum length|too long|should match pattern|at most \d+)")
_NO_SYSTEM = _says(
    r"system (role|messages?|prompts?)[^.]{0,20} not (be )?supported", r"(unknown|invalid) role:? .?system"
)
_ALTERNATE = _says(
    r"must alternate", r"unexpected role", r"not the same role", r"consecutive (user|messages)",
    r"after (a )?tool message", r"expected last role",
)  # fmt: skip
_NO_NAME = _says(
    r"(function|tool)s?\W.{0,60}name\b.{0,80}(pattern|invalid|too long|maximum length|start with|must|at most)",
    r"(invalid|illegal)[^.]{0,20} (function|tool)[_ ]?(call )?name",
)
_NO_NULL = _says(
    r"content\b[^.]{0,80}(null|None(Type)?\b|must be a string|valid string|is required|field required)",
)
_NO_SCHEMA = _says(
    r"anyOf|oneOf|allOf|\$ref|\$defs|additionalProperties",
    r"(invalid|unsupported|unknown|not a valid)[^.]{0,60}(schema|function_declarations|tools?\.|parameters)",
    r"(schema|parameters)[^.]{0,60}(invalid|unsupported|not (valid|supported))",
)
_NO_PICTURES = re.compile(
    r"image|vision|multi-?modal|mmproj|content[^.]{0,60}\b(must be|should be|expected|not)\b[^.]{0,20}\bstr",
    re.IGNORECASE,
)
_BLIND = re.compile(
    r"(^|/)("
    r"deepseek(?!.*(vl|ocr))|gpt-oss|gpt-3|o1-mini|o3-mini|codestral|devstral|kimi-k2(?!\.[5-9])|minimax-m|codellama|"
    r"glm-(4\.[5-7]|5)(?!.*v)|qwen(?!.*(vl|omni))(.*coder|2\.5|3(?!\.[5-9]))|qwq|llama-?3(?!.*vision)|grok-(3|code)"
    r")"
)
"""Families that are known to see nothing. Whoever else does not says so when it is sent a picture."""
_PATCHING = re.compile(r"(?:^|/)gpt-[5-9]|codex")
"""Families that were trained on patches."""
_ECHO = WireShape(echo_reasoning=True)
_EFFORT: Efforts = {level: {"reasoning_effort": level} for level in ("low", "medium", "high")}
_ROUTED: Efforts = {level: {"reasoning": {"effort": level}} for level in ("low", "medium", "high")}
_SWITCH: Efforts = {
    "low": {"thinking": {"type": "disabled"}},
    "medium": {"thinking": {"type": "enabled"}},
    "high": {"thinking": {"type": "enabled"}},
}
_QWEN: Efforts = {
    "low": {"enable_thinking": False},
    "medium": {"enable_thinking": True},
    "high": {"enable_thinking": True},
}


@dataclass(frozen=True, slots=True)
class Profile:
    """How one model at one endpoint is asked."""

    shape: WireShape = PLAIN
    limit: LimitField | None = "max_tokens"
    """The field that bounds the reply; None where the endpoint takes none."""
    usage: bool = True
    """Ask for usage (`stream_options.include_usage`)."""
    efforts: Efforts = field(default_factory=dict)
    """Body fields by effort; an effort that is not in here is not sent."""
    vision: bool = True
    """Send pictures; else a note stands in the place of each."""
    patches: bool = False
    """The model writes patches better than it replaces passages."""
    alternate: bool = False
    """User and assistant must take turns."""
    system: bool = True
    """There is a system role; else what it would say is the user's."""
    ids: Ids = "any"
    thoughts: Thoughts = "kept"
    plain_schemas: bool = False
    """Tool schemas without references, alternatives and formats."""
    plain_names: bool = False
    """Names of tools in the letters and the length that every server takes."""
    nulls: bool = True
    """The content of a message with calls alone may be null; else it is empty."""
    dropped: tuple[str, ...] = ()
    """What is left out of the endpoint's `extra`."""
    opened: bool = False
    """Replies begin inside a thought, whose opening tag stands in the prompt."""
    bare_calls: bool = False
    """JSON alone at the end of a reply is a call."""

    def without(self, complaint: str, *, pictures: bool = False, extra: Collection[str] = ()) -> Profile | None:
        """The profile that leaves out what a refusal complains of; None when it names nothing of ours.

        `pictures`: the request carried some; `extra`: fields that were sent beside ours.
        """
        named = tuple(name for name in extra if name not in self.dropped and _named(name, complaint))
        if named:
            return replace(self, dropped=(*self.dropped, *named))
        if pictures and self.vision and _NO_PICTURES.search(complaint):
            return replace(self, vision=False)
        if self.usage and re.search(r"stream_options|include_usage", complaint):
            return replace(self, usage=False)
        if self.limit and self.limit in complaint:
            other: LimitField = "max_completion_tokens" if self.limit == "max_tokens" else "max_tokens"
            return replace(self, limit=other if other in complaint else None)
        if self.thoughts != "always" and _WANTS_THOUGHTS.search(complaint):
            # It speaks of thinking too, which is what switches efforts.
            return replace(self, thoughts="always")
        names = {name for sent in self.efforts.values() for name in sent}
        if any(_named(name, complaint) for name in names):
            return replace(self, efforts={})
        return next((leaner for says, leaner in self._mended() if says.search(complaint) and leaner != self), None)

    def _mended(self) -> Iterable[tuple[re.Pattern[str], Profile]]:
        """What complaints about the form of messages and tools come to."""
        return (
            (_NO_THOUGHTS, replace(self, thoughts="never")),
            (_NINE, replace(self, ids="nine")),
            (_SHORT, replace(self, ids="short")),
            (_NO_NAME, replace(self, plain_names=True)),
            (_NO_NULL, replace(self, nulls=False)),
            (_NO_SYSTEM, replace(self, system=False, alternate=True)),
            (_ALTERNATE, replace(self, alternate=True)),
            (_NO_SCHEMA, replace(self, plain_schemas=True)),
        )


def _named(field: str, complaint: str) -> bool:
    return re.search(rf"\b{re.escape(field)}\b", complaint) is not None


_TABLE: tuple[tuple[str, str, Profile], ...] = (
    ("api.openai.com", "o[1-9]*", Profile(limit="max_completion_tokens", efforts=_EFFORT, ids="short")),
    ("api.openai.com", "gpt-[5-9]*", Profile(limit="max_completion_tokens", efforts=_EFFORT, ids="short")),
    ("api.openai.com", "*", Profile(limit="max_completion_tokens", ids="short")),
    ("api.deepseek.com", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("*.moonshot.*", "*", Profile(shape=_ECHO, efforts=_SWITCH, plain_schemas=True)),
    ("api.kimi.com", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("open.bigmodel.cn", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("api.z.ai", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("dashscope*.aliyuncs.com", "*", Profile(efforts=_QWEN)),
    ("api.siliconflow.*", "*", Profile(efforts=_QWEN)),
    ("openrouter.ai", "*", Profile(shape=_ECHO, efforts=_ROUTED)),
    ("generativelanguage.googleapis.com", "*", Profile(efforts=_EFFORT, plain_schemas=True)),
    ("api.anthropic.com", "*", Profile(ids="short")),
    ("api.groq.com", "openai/gpt-oss*", Profile(limit="max_completion_tokens", efforts=_EFFORT)),
    ("api.groq.com", "*", Profile(limit="max_completion_tokens")),
    ("api.x.ai", "*mini*", Profile(efforts=_EFFORT)),
    ("api.mistral.ai", "*", Profile(usage=False, ids="nine", alternate=True)),
    ("*", "*gpt-oss*", Profile(efforts=_EFFORT)),
    ("*", "*deepseek*", Profile(shape=_ECHO)),
    ("*", "*kimi*", Profile(shape=_ECHO)),
    ("*", "*", Profile()),
)
"""(host, model, profile): globs in lower case, the first match counts."""


def profile_for(base_url: str, model: str) -> Profile:
    """The profile that an endpoint and a model begin with."""
    host, name = parts(base_url).hostname or "", model.lower()
    found = next(profile for at, of, profile in _TABLE if fnmatchcase(host, at) and fnmatchcase(name, of))
    return replace(found, vision=found.vision and not _BLIND.search(name), patches=bool(_PATCHING.search(name)))


def body(request: Request, endpoint: Endpoint, profile: Profile) -> bytes:
    """The bytes of a streaming request; messages and tools go in as they are."""
    sent: dict[str, Any] = {"model": request.model, "stream": True}
    if profile.usage:
        sent["stream_options"] = {"include_usage": True}
    if request.max_tokens and profile.limit:
        sent[profile.limit] = request.max_tokens
    sent.update(profile.efforts.get(request.effort or "", {}))
    sent.update((name, value) for name, value in endpoint.extra if name not in profile.dropped)
    tools = request.tools
    if tools and profile.plain_schemas:
        tools = plain_tools(tools)
    if tools and profile.plain_names:
        tools = named_tools(tools)
    tools = b"" if tools in (b"", b"[]") else b',"tools":' + tools
    return b'%b%b,"messages":[%b]}' % (encode_json(sent)[:-1], tools, b",".join(_shaped(request.messages, profile)))


def _shaped(messages: Iterable[bytes], profile: Profile) -> Iterable[bytes]:
    """`messages` as the profile wants them; nobody walks them where it wants nothing."""
    steps: list[Callable[[bytes], bytes]] = []
    if not profile.vision:
        steps.append(blind)
    if not profile.system:
        steps.append(system_as_user)
    if profile.ids != "any":
        steps.append(lambda message: with_ids(message, profile.ids))
    if profile.plain_names:
        steps.append(with_names)
    if not profile.nulls:
        steps.append(without_null)
    if profile.thoughts != "kept":
        steps.append(lambda message: with_thoughts(message, profile.thoughts))
    for step in steps:
        messages = map(step, messages)
    return alternating(messages) if profile.alternate else messages
