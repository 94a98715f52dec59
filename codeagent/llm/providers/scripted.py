"""A model that answers from a script: for tests, demonstrations and work without a network.

A script reads aloud: `[call("read_file", path="gone.txt"), say("It is not there.")]`. Each request takes the next step
of its purpose. As a file (`Endpoint.base_url` is its path) a script is a JSON list of steps, every field optional:

    [{"reasoning": "...", "text": "...", "calls": [{"name": "read_file", "arguments": {"path": "a.py"}}],
      "usage": {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 0}, "delay": 0.1,
      "purpose": "summary", "error": "RateLimited", "cut": true}]
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codeagent.core import errors
from codeagent.core.entries import Usage
from codeagent.core.errors import CodeAgentError, ConfigError, ModelError
from codeagent.core.events import CallDelta, ReasoningDelta, TextDelta
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall, blind
from codeagent.core.ports import Endpoint, ProviderKind, Purpose, Reply, Request, StreamItem

SLICE = 12
"""Characters in one delta."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply. Calls without an id are numbered when they are served."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage | None = None
    delay: float = 0.0
    """Seconds before each delta."""
    purpose: Purpose = "turn"
    error: str = ""
    """Name of the `CodeAgentError` class that ends the stream instead of a reply."""
    cut: bool = False
    """The reply ran into its length limit; its last call, if any, is broken."""


Script = Sequence["Step | Sequence[Step]"]


def say(
    text: str,
    *,
    reasoning: str = "",
    usage: Usage | None = None,
    delay: float = 0.0,
    error: str = "",
    cut: bool = False,
) -> Step:
    """The model says `text`, and with `error` fails after it."""
    return Step(text=text, reasoning=reasoning, usage=usage, delay=delay, error=error, cut=cut)


def call(tool: str, /, **arguments: Any) -> Step:
    """The model calls one tool."""
    return Step(calls=(ToolCall("", tool, json.dumps(arguments, ensure_ascii=False)),))


def calls(*steps: Step) -> Step:
    """What several steps say and call, in one reply."""
    return Step(
        text="".join(step.text for step in steps),
        calls=tuple(one for step in steps for one in step.calls),
        reasoning="".join(step.reasoning for step in steps),
        usage=next((step.usage for step in steps if step.usage), None),
        delay=max((step.delay for step in steps), default=0.0),
        purpose=steps[0].purpose if steps else "turn",
        error=next((step.error for step in steps if step.error), ""),
        cut=any(step.cut for step in steps),
    )


def summary(text: str) -> Step:
    """The answer to a request for a summary."""
    return Step(text=text, purpose="summary")


def fail(error: str) -> Step:
    """The request fails with the error class of that name."""
    return Step(error=error)


BUILT_IN = say(
    "I am a scripted model: no language model is connected, and I only repeat this sentence. "
    "Set a key or run `codeagent setup` to talk to a real one."
)


class ScriptedProvider:
    """Plays a script; `requests` are kept for tests, `leftover` are the steps nobody asked for."""

    def __init__(self, script: Script, then: Step | None = None) -> None:
        """`then` answers when the script is used up; without it that is an error."""
        self._steps = [step if isinstance(step, Step) else calls(*step) for step in script]
        self._then = then
        self._called = 0
        self.requests: list[Request] = []

    @property
    def leftover(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        self.requests.append(request)
        step = self._number(self._take(request), request)
        async for delta in _deltas(step):
            await asyncio.sleep(step.delay)
            yield delta
        if step.error:
            raise _error(step.error)
        yield Reply(
            AssistantMessage(step.text, step.calls, Reasoning(step.reasoning) if step.reasoning else None),
            usage=step.usage or estimate_usage(step, sum(map(len, map(blind, request.messages))) + len(request.tools)),
            finish="length" if step.cut else "tool_calls" if step.calls else "stop",
            cut=step.cut,
            broken_calls=frozenset(one.id for one in step.calls[-1:] if step.cut),
        )

    async def aclose(self) -> None:
        return None

    def _take(self, request: Request) -> Step:
        for place, step in enumerate(self._steps):
            if step.purpose == request.purpose:
                return self._steps.pop(place)
        if self._then is not None:
            return self._then
        raise ModelError("The script of the scripted model is used up: no step is left for a {purpose}.",
                         purpose=request.purpose)  # fmt: skip

    def _number(self, step: Step, request: Request) -> Step:
        """Give ids that are new in the conversation, also when another process began it."""
        answered = sum(message.startswith(b'{"role":"tool"') for message in request.messages)
        first = max(self._called, answered) + 1
        numbered = number_calls(step, first)
        self._called = first - 1 + len(step.calls)
        return numbered


def number_calls(step: Step, first: int) -> Step:
    """`step` with `call_<n>` for every call that has no id, counting from `first`."""
    named = (replace(one, id=one.id or f"call_{first + place}") for place, one in enumerate(step.calls))
    return replace(step, calls=tuple(named))


def estimate_usage(step: Step, prompt_bytes: int) -> Usage:
    """Usage as a quarter of the bytes."""
    said = step.text + step.reasoning + "".join(one.name + one.arguments for one in step.calls)
    return Usage(prompt_bytes // 4, max(1, len(said.encode("utf-8", "replace")) // 4))


def slices(text: str) -> list[str]:
    """`text` as a stream would bring it."""
    return [text[start : start + SLICE] for start in range(0, len(text), SLICE)]


async def _deltas(step: Step) -> AsyncIterator[StreamItem]:
    for piece in slices(step.reasoning):
        yield ReasoningDelta(piece)
    for piece in slices(step.text):
        yield TextDelta(piece)
    for index, one in enumerate(step.calls):
        for end in range(0, len(one.arguments), 4 * SLICE):
            yield CallDelta(index, one.name, end)
        yield CallDelta(index, one.name, len(one.arguments))


def _error(name: str) -> CodeAgentError:
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, CodeAgentError):
        return kind("The script of the scripted model ends this reply with {error}.", error=name)
    return ConfigError("The script of the scripted model names an unknown error: {error}.", error=name)


def read_script(path: Path) -> list[Step]:
    """Read a script file.

    Raises:
        ConfigError: it cannot be read or is no list of steps.
    """
    try:
        return [_step(raw) for raw in json.loads(path.read_text("utf-8"))]
    except OSError as error:
        raise ConfigError("The script {path} cannot be read: {reason}.", path=path, reason=error.strerror) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigError("The script {path} is no list of steps: {reason}.", path=path, reason=error) from error


def _step(raw: dict[str, Any]) -> Step:
    made = tuple(
        ToolCall(str(one.get("id", "")), one["name"], json.dumps(one.get("arguments", {}), ensure_ascii=False))
        for one in raw.get("calls", ())
    )
    usage = Usage(**raw["usage"]) if raw.get("usage") else None
    return Step(**{**raw, "calls": made, "usage": usage})


def open_scripted(endpoint: Endpoint) -> ScriptedProvider:
    """`endpoint.base_url` is the path of a script file; "" plays a built-in sentence for ever."""
    if not endpoint.base_url:
        return ScriptedProvider((), then=BUILT_IN)
    return ScriptedProvider(read_script(Path(endpoint.base_url)))


PROVIDER = ProviderKind("scripted", open_scripted)
