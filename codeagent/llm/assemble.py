"""Parts to message: the chunks of one stream become deltas as they come and one `Reply` at the end.

Tolerant in what it reads, strict in one thing: a stream that ended before it was whole is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from codeagent.core.entries import Usage
from codeagent.core.errors import ContextOverflow, IncompleteReply, ModelError, Overloaded
from codeagent.core.events import ReasoningDelta, TextDelta
from codeagent.core.messages import WRITTEN, AssistantMessage, Reasoning, ToolCall
from codeagent.core.ports import Endpoint, Reply, StreamItem
from codeagent.llm.calls import CallAssembler
from codeagent.llm.errors import read_error, refused
from codeagent.llm.parting import Part, Parted, Parting
from codeagent.llm.pieces import Text

NO_TOOLS: Mapping[str, str] = MappingProxyType({})
REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_text")
_CUT = {"length", "max_tokens", "model_length", "max_output_tokens"}
_HELD_BACK = {
    *("blocklist", "content_filter", "content_filtered", "guardrail_intervened", "image_safety", "language"),
    *("prohibited_content", "recitation", "refusal", "safety", "sensitive", "spii"),
}
_FAILED = {"error", "network_error", "abort", "aborted", "cancelled"}


class Assembler:
    """One reply in the making."""

    def __init__(
        self, endpoint: Endpoint, tools: Mapping[str, str] = NO_TOOLS, *, thinking: bool = False, bare: bool = False
    ) -> None:
        """`tools`: the names of those that were offered, by what the model knows them as; only they can be calls that
        are written as text. For the others see `Parting`."""
        self._endpoint = endpoint
        self._tools = tools
        self._parting = Parting(tools, thinking=thinking, bare=bare)
        self._parted: Parted | None = None
        self._text = Text()
        self._reasoning = Text()
        self._reasoning_key = ""
        self._thought = False
        self._calls = CallAssembler()
        self._usage: Usage | None = None
        self.finish = ""
        """The endpoint's word for why it stopped; "" until it says one."""
        self.begun = False
        """Whether anything of the reply has come."""

    def feed(self, chunk: object) -> list[StreamItem]:
        """Take one decoded chunk.

        Raises:
            ModelError: the chunk is an error, and the reply is not whole yet.
        """
        refusal = read_error(chunk)
        if refusal is not None:
            if self.finish:
                return []
            raise refused(refusal, self._endpoint)
        if not isinstance(chunk, Mapping):
            return []
        self._count(chunk)
        items: list[StreamItem] = []
        for choice in _list(chunk.get("choices"))[:1]:
            if isinstance(choice, Mapping):
                self.begun = True
                self._count(choice)
                items += self._delta(choice.get("delta") or choice.get("message"))
                finish = choice.get("finish_reason")
                self.finish = finish if isinstance(finish, str) and finish else self.finish
        return items

    def _delta(self, delta: object) -> list[StreamItem]:
        if not isinstance(delta, Mapping):
            return []
        items: list[StreamItem] = []
        text, thought = _content(delta.get("content"))
        key, thought = _thought(delta) or (REASONING_KEYS[0] if thought else "", thought)
        if key:
            # An empty string is not nothing, some endpoints want it back; but a key that brings text goes before it.
            if not self._reasoning_key or (thought and not self._thought):
                self._reasoning_key = key
            self._thought = self._thought or bool(thought)
            if shown := self._reasoning.add(thought):
                self._parting.apart()
                items.append(ReasoningDelta(shown))
        if text:
            items += _told(self._parting.add(self._text.add(text)))
        growing = (self._calls.add(fragment) for fragment in _list(delta.get("tool_calls")))
        return [*items, *(item for item in growing if item is not None)]

    def _count(self, holder: Mapping[str, Any]) -> None:
        for source in (holder, holder.get("x_groq")):
            if isinstance(source, Mapping) and isinstance(usage := source.get("usage"), Mapping):
                self._usage = read_usage(usage) or self._usage

    @property
    def opened(self) -> bool:
        """Whether the reply began inside a thought: what was told of it as text was none."""
        return bool(self._parted and self._parted.lost)

    def rest(self) -> list[StreamItem]:
        """What was held back of the text, to be told before the reply."""
        items = _told(self._parting.add(self._text.rest()))
        whole = self.finish.lower() not in _CUT and not any(self._calls.finish())
        self._parted = self._parting.finish(whole=whole)
        return [*items, *_told(self._parted.parts)]

    def reply(self, *, done: bool) -> Reply:
        """The whole reply; `done` tells that the stream said it was complete ([DONE]).

        Raises:
            ModelError: it ended before the reply was whole (`IncompleteReply`), or the endpoint gave up in the middle.
        """
        if self._parted is None:
            self.rest()
        assert self._parted is not None
        finished = list(self._calls.finish())
        written = tuple(ToolCall(_new_id(), self._tools[call.name], call.arguments) for call in self._parted.calls)
        # Some hosts never give a reason and end with [DONE] alone: then what came must be whole by itself.
        silent = done and all(whole for _, whole in finished) and bool(finished or self._text.whole().strip())
        self._check(ended=bool(self.finish) or silent)
        cut = self.finish.lower() in _CUT
        message = AssistantMessage(
            self._parted.text,
            tuple(replace(call, name=self._tools.get(call.name, call.name)) for call, _ in finished) or written,
            self._reasoned(self._parting.thought or self._parted.lost),
        )
        broken = frozenset(call.id for call, whole in finished if cut and not whole)
        return Reply(message, self._usage, self.finish or "stop", cut, broken)

    def _reasoned(self, tagged: str) -> Reasoning | None:
        """Reasoning under the key it came in, or from the content, where nothing else tells a key."""
        if self._reasoning_key and (self._thought or not tagged.strip()):
            return Reasoning(self._reasoning.whole(), self._reasoning_key, self._endpoint.model)
        return Reasoning(tagged.strip(), REASONING_KEYS[0], self._endpoint.model) if tagged.strip() else None

    def _check(self, *, ended: bool) -> None:
        finish = self.finish.lower()
        args: dict[str, Any] = {"url": self._endpoint.base_url, "model": self._endpoint.model, "finish": self.finish}
        if finish == "model_context_window_exceeded":
            raise ContextOverflow("The request and its answer are longer than the context window of {model}.", **args)
        if finish == "insufficient_system_resource":
            raise Overloaded("{url} ran out of resources in the middle of its answer.", **args)
        if finish in _HELD_BACK:
            raise ModelError(
                "{url} held its answer back ({finish}): say it in other words or choose another model.", **args
            )
        if finish in _FAILED:
            raise IncompleteReply("{url} broke off its answer ({finish}).", **args)
        if not ended:
            raise IncompleteReply("The answer of {url} ended before it was whole.", **args)


def _new_id() -> str:
    return f"{WRITTEN}{uuid4().hex[:24]}"


def _told(parts: list[Part]) -> list[StreamItem]:
    return [TextDelta(text) if kind == "text" else ReasoningDelta(text) for kind, text in parts]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _thought(delta: Mapping[str, Any]) -> tuple[str, str] | None:
    """Key and text of the reasoning in `delta`: the first key that is not empty, else the first that is there."""
    there = [(key, delta[key]) for key in REASONING_KEYS if isinstance(delta.get(key), str)]
    if not there and (details := _content(delta.get("reasoning_details"))[0]):
        return "reasoning", details
    return next((pair for pair in there if pair[1]), there[0] if there else None)


def _content(value: object) -> tuple[str, str]:
    """Text and thinking of a `content`, which is a string or, rarely, a list of parts."""
    if isinstance(value, str):
        return value, ""
    text, thought = [], []
    for part in _list(value):
        if isinstance(part, Mapping):
            if part.get("type") == "thinking":
                thought += [_content(part.get("thinking"))[0]]
            elif isinstance(part.get("text"), str):
                text += [part["text"]]
    return "".join(text), "".join(thought)


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Token counts, wherever the endpoint puts the cached ones; None when it counts nothing."""
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    completion = _count(usage, "completion_tokens", "output_tokens")
    if not prompt and not completion:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else 0
    cached = cached or _count(usage, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
    return Usage(prompt, completion, min(cached, prompt))


def _count(source: Mapping[str, Any], *keys: str) -> int:
    """The first of `keys` that holds a count."""
    return next((int(source[key]) for key in keys if isinstance(source.get(key), int | float) and source[key] > 0), 0)
