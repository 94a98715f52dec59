"""What the wire wants, by endpoint and model. Data, and the function that writes a request's body from it.

Bodies are minimal: what some endpoint refuses is sent only where it is known to be welcome, and a refusal that names
one of our optional fields drops it (`without`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from codeagent.core.messages import PLAIN, WireShape, blind, encode_json
from codeagent.core.ports import Endpoint, Request
from codeagent.llm.presets import parts

LimitField = Literal["max_tokens", "max_completion_tokens"]
Efforts = Mapping[str, Mapping[str, Any]]

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

    def without(self, complaint: str, *, pictures: bool = False) -> Profile | None:
        """The profile that leaves out what a refusal complains of; None when it names nothing of ours.

        `pictures`: the request carried some.
        """
        if pictures and self.vision and _NO_PICTURES.search(complaint):
            return replace(self, vision=False)
        if self.usage and re.search(r"stream_options|include_usage", complaint):
            return replace(self, usage=False)
        if self.limit and self.limit in complaint:
            other: LimitField = "max_completion_tokens" if self.limit == "max_tokens" else "max_tokens"
            return replace(self, limit=other if other in complaint else None)
        names = {name for fields in self.efforts.values() for name in fields}
        if any(re.search(rf"\b{name}\b", complaint) for name in names):
            return replace(self, efforts={})
        return None


_TABLE: tuple[tuple[str, str, Profile], ...] = (
    ("api.openai.com", "o[1-9]*", Profile(limit="max_completion_tokens", efforts=_EFFORT)),
    ("api.openai.com", "gpt-[5-9]*", Profile(limit="max_completion_tokens", efforts=_EFFORT)),
    ("api.openai.com", "*", Profile(limit="max_completion_tokens")),
    ("api.deepseek.com", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("*.moonshot.*", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("api.kimi.com", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("open.bigmodel.cn", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("api.z.ai", "*", Profile(shape=_ECHO, efforts=_SWITCH)),
    ("dashscope*.aliyuncs.com", "*", Profile(efforts=_QWEN)),
    ("api.siliconflow.*", "*", Profile(efforts=_QWEN)),
    ("openrouter.ai", "*", Profile(shape=_ECHO, efforts=_ROUTED)),
    ("generativelanguage.googleapis.com", "*", Profile(efforts=_EFFORT)),
    ("api.groq.com", "openai/gpt-oss*", Profile(limit="max_completion_tokens", efforts=_EFFORT)),
    ("api.groq.com", "*", Profile(limit="max_completion_tokens")),
    ("api.x.ai", "*mini*", Profile(efforts=_EFFORT)),
    ("api.mistral.ai", "*", Profile(usage=False)),
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
    fields: dict[str, Any] = {"model": request.model, "stream": True}
    if profile.usage:
        fields["stream_options"] = {"include_usage": True}
    if request.max_tokens and profile.limit:
        fields[profile.limit] = request.max_tokens
    fields.update(profile.efforts.get(request.effort or "", {}))
    fields.update(endpoint.extra)
    tools = b"" if request.tools in (b"", b"[]") else b',"tools":' + request.tools
    messages = request.messages if profile.vision else map(blind, request.messages)
    return b'%b%b,"messages":[%b]}' % (encode_json(fields)[:-1], tools, b",".join(messages))
