"""What an endpoint can do, found out by a dozen small requests; what they teach is the model's profile.

Each question is a real request through the real client, so that a refusal mends the profile as it would in a session.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from codeagent.core.errors import AuthError, ModelError, ModelNotFound, PassingError
from codeagent.core.events import Notice, ReasoningDelta, TextDelta
from codeagent.core.images import Image
from codeagent.core.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    encode,
    encode_json,
)
from codeagent.core.ports import Endpoint, Reply, Request
from codeagent.core.tokens import estimate_tokens
from codeagent.llm import probe
from codeagent.llm.learning import profile_of
from codeagent.llm.profiles import Profile
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.written import bare_block

State = Literal["yes", "no", "unknown"]
FIRST_TOKEN = 60.0
"""Seconds that an answer may take to begin: a local server may have to load the model."""
SMALLEST_WINDOW = 16_000
"""Tokens below which hardly any work fits."""
_LIMIT = 1_000
"""Tokens of a reply; a thinking model needs some before it says a word."""
_RULES = "You are being tested. Follow the last message exactly and briefly.\n" + "\n".join(
    f"Rule {number}: answer in as few words as you can." for number in range(1, 121)
)
"""Long enough for the caches of prompts, which begin at a thousand tokens or so."""
_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_WEATHER = {"name": "weather", "description": "The weather of one city.", "parameters": _CITY}
_TOOLS = encode_json([{"type": "function", "function": _WEATHER}])
_SCHEMA = {"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"],
           "additionalProperties": False}  # fmt: skip
_FORMAT = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": _SCHEMA}}


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    state: State
    detail: str = ""
    """A few words of ours or of the endpoint's, without keys and control characters."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found; `profile` is how the endpoint is best asked."""

    endpoint: Endpoint
    findings: tuple[Finding, ...]
    profile: Profile
    window: int | None = None
    """Tokens, as the endpoint tells them."""
    warnings: tuple[Notice, ...] = ()


@dataclass(slots=True)
class _Answer:
    """One reply as it came."""

    reply: Reply
    deltas: int = 0
    seen: Profile = field(default_factory=Profile)


async def examine(endpoint: Endpoint) -> Diagnosis:
    """Ask `endpoint` about everything that differs between servers.

    Raises:
        ModelError: it cannot be reached, refuses the key or the model, or does not answer at all.
    """
    asked = replace(endpoint, lessons=None, first_token_timeout=min(FIRST_TOKEN, endpoint.first_token_timeout))
    findings = [await _models(asked)]
    async with aclosing(OpenAIChat(asked)) as client:
        examiner = _Examiner(client, asked)
        first = await examiner.ask(SystemMessage(_RULES), UserMessage("Say OK."))
        findings += examiner.streaming(first)
        findings += await examiner.tools()
        findings += [await examiner.developer(), await examiner.pictures(), await examiner.schema()]
        findings.append(await examiner.cache())
        profile = client.profile
    window = await probe.context_window(asked)
    findings.append(Finding("context window", "yes" if window else "unknown", f"{window:,} tokens" if window else ""))
    profile = replace(profile, bare_calls=examiner.bare)
    return Diagnosis(endpoint, tuple(findings), profile, window, tuple(_warnings(endpoint, first, findings, window)))


async def _models(endpoint: Endpoint) -> Finding:
    try:
        listed = await probe.list_models(endpoint)
    except (AuthError, PassingError):
        raise
    except ModelError:
        return Finding("model list", "no")
    if endpoint.model in listed:
        return Finding("model list", "yes", f"{len(listed)}, {endpoint.model} among them")
    return Finding("model list", "yes", f"{len(listed)}, {endpoint.model} is not among them")


def _warnings(endpoint: Endpoint, first: _Answer, findings: list[Finding], window: int | None) -> list[Notice]:
    warnings = []
    usage, sent = first.reply.usage, estimate_tokens(_RULES)
    if usage is not None and usage.prompt_tokens < sent / 2:
        sentence = "{url} counts {counted:,} tokens of a prompt of about {sent:,}: it cuts long prompts silently."
        args = {"url": endpoint.base_url, "counted": usage.prompt_tokens, "sent": sent}
        warnings.append(Notice(sentence, args, "warning"))
    if window is not None and window < SMALLEST_WINDOW:
        sentence = (
            "{model} runs with a window of {window:,} tokens, and some servers cut what is longer without a word. "
            "Give it more: with Ollama by num_ctx or OLLAMA_CONTEXT_LENGTH, with llama.cpp by --ctx-size."
        )
        warnings.append(Notice(sentence, {"model": endpoint.model, "window": window}, "warning"))
    if any(finding.what == "tool calls" and finding.state == "no" for finding in findings):
        sentence = "{model} called no tool when it was asked to: it can hardly work as an agent here."
        warnings.append(Notice(sentence, {"model": endpoint.model}, "warning"))
    return warnings


class _Examiner:
    """Asks one question after the other."""

    def __init__(self, client: OpenAIChat, endpoint: Endpoint) -> None:
        self._client = client
        self._endpoint = endpoint
        self.bare = profile_of(endpoint).bare_calls
        """Calls came as JSON alone."""

    async def ask(self, *messages: Message, tools: bytes = b"[]", client: OpenAIChat | None = None) -> _Answer:
        return await self._send([encode(message) for message in messages], tools, client)

    async def _send(self, messages: list[bytes], tools: bytes = b"[]", client: OpenAIChat | None = None) -> _Answer:
        deltas = 0
        asked = client or self._client
        async for item in asked.stream(Request(self._endpoint.model, messages, tools, max_tokens=_LIMIT)):
            if isinstance(item, Reply):
                return _Answer(item, deltas, asked.profile)
            deltas += isinstance(item, TextDelta | ReasoningDelta)
        raise AssertionError("a stream ends with a reply or an error")

    async def _try(self, what: str, *messages: bytes, client: OpenAIChat | None = None) -> _Answer | Finding:
        """The answer, or the finding that there is none."""
        try:
            return await self._send(list(messages), client=client)
        except (AuthError, ModelNotFound):
            raise
        except PassingError as error:
            return Finding(what, "unknown", _short(error))
        except ModelError as error:
            return Finding(what, "no", _short(error))

    def streaming(self, first: _Answer) -> list[Finding]:
        """What the first answer tells."""
        reasoning, profile = first.reply.message.reasoning, first.seen
        if reasoning is not None and reasoning.text:
            thinking = Finding("reasoning", "yes", "in the text" if profile.opened else f"as {reasoning.key}")
        else:
            thinking = Finding("reasoning", "unknown", "none came")
        limit = profile.limit or "takes no limit"
        return [
            Finding("streaming", "yes" if first.deltas > 1 else "unknown", "" if first.deltas > 1 else "one piece"),
            Finding("usage in streams", "yes" if first.reply.usage else "no"),
            Finding("length limit", "yes" if profile.limit else "no", limit),
            Finding("system role", "yes" if profile.system else "no"),
            thinking,
        ]

    async def tools(self) -> list[Finding]:
        """Whether tools are called, several at once, and their results taken."""
        said = UserMessage("Call the tool weather for Paris and for Rome, both calls in one answer.")
        rules = SystemMessage(_RULES)
        try:
            answer = await self.ask(rules, said, tools=_TOOLS)
        except PassingError as error:
            return [Finding("tool calls", "unknown", _short(error))]
        except ModelError as error:
            return [Finding("tool calls", "no", _short(error))]
        message = answer.reply.message
        if not message.calls:
            self.bare = bool(bare_block(message.text, ("weather",))[1])
            return [Finding("tool calls", "yes" if self.bare else "no", "as JSON alone" if self.bare else "")]
        detail = "as text" if message.calls[0].written else ""
        several = len(message.calls) > 1
        found = [
            Finding("tool calls", "yes", detail),
            Finding("parallel calls", "yes" if several else "unknown", "" if several else "one came"),
        ]
        return [*found, await self._results(rules, said, message)]

    async def _results(self, rules: SystemMessage, said: UserMessage, message: AssistantMessage) -> Finding:
        results = [ToolMessage(call.id, call.name, "Sunny.") for call in message.calls]
        messages: list[Message] = [rules, said, message, *results, UserMessage("Say OK.")]
        answer = await self._try("tool results", *(encode(one) for one in messages))
        if isinstance(answer, Finding):
            return answer
        return Finding("tool results", "yes", "roles must alternate" if answer.seen.alternate else "")

    async def developer(self) -> Finding:
        message = encode_json({"role": "developer", "content": "Be brief."})
        answer = await self._try("developer role", message, encode(UserMessage("Say OK.")))
        return answer if isinstance(answer, Finding) else Finding("developer role", "yes")

    async def pictures(self) -> Finding:
        if not self._client.profile.vision:
            return Finding("pictures", "no", "the model is known to see none")
        picture = Image("a.png", f"data:image/png;base64,{base64.b64encode(_red()).decode()}")
        said = UserMessage("Which colour is the picture? One word.", (picture,))
        answer = await self._try("pictures", encode(said))
        if isinstance(answer, Finding):
            return answer
        if not answer.seen.vision:
            return Finding("pictures", "no")
        sees = "red" in answer.reply.message.text.lower()
        return Finding("pictures", "yes" if sees else "unknown", "" if sees else "taken, but not described")

    async def schema(self) -> Finding:
        asked = replace(self._endpoint, extra=(*self._endpoint.extra, ("response_format", _FORMAT)))
        async with aclosing(OpenAIChat(asked)) as client:
            message = encode(UserMessage("How much is 2 + 2? Answer as JSON."))
            answer = await self._try("JSON schema", message, client=client)
        if isinstance(answer, Finding):
            return answer
        if "response_format" in answer.seen.dropped:
            return Finding("JSON schema", "no")
        kept = _fits(answer.reply.message.text)
        return Finding("JSON schema", "yes" if kept else "no", "" if kept else "taken, but not kept")

    async def cache(self) -> Finding:
        """Whether a prompt that was sent before is told as cached."""
        said = (encode(SystemMessage(_RULES)), encode(UserMessage("Say OK.")))
        answer = await self._try("cache reporting", *said)
        if isinstance(answer, Finding):
            return answer
        cached = answer.reply.usage.cached_tokens if answer.reply.usage else 0
        return Finding("cache reporting", "yes" if cached else "unknown", f"{cached:,} tokens" if cached else "")


def _short(error: ModelError) -> str:
    """What the endpoint said, as far as the error tells it apart."""
    return str(error.arguments.get("detail") or error)


def _fits(text: str) -> bool:
    try:
        value: Any = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("answer"), int)


def _red(size: int = 64) -> bytes:
    """A red square as PNG."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * size) * size
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
