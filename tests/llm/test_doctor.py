"""Endpoints examined: one that can do everything, one that can do next to nothing, and those that do not answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.core.errors import AuthError, NetworkError
from codeagent.core.messages import ToolCall
from codeagent.core.ports import Endpoint
from codeagent.llm.doctor import examine
from codeagent.llm.profiles import Profile
from codeagent.llm.providers.scripted import Step, say
from tests.llm._playing import endpoint
from tests.server.endpoint import JSON, Recorded, Response, ScriptedEndpoint, chunk, refusal, sse

PARIS, ROME = (ToolCall(f"c{at}", "weather", f'{{"city": "{city}"}}') for at, city in enumerate(("Paris", "Rome")))


def asked(request: Recorded) -> str:
    content = request.messages[-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def capable(request: Recorded) -> Any:
    """Knows it all; what was asked before is told as cached."""
    said = asked(request)
    if request.json.get("tools"):
        return Step(calls=(PARIS, ROME))
    if "JSON" in said:
        return say('{"answer": 4}')
    answer = say("It is red." if isinstance(request.messages[-1]["content"], list) else "OK, then, as you like.",
                 reasoning="hm")  # fmt: skip
    usage = {"prompt_tokens": 1500, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1408}}
    deltas = [{"reasoning": answer.reasoning}, {"content": answer.text[:3]}, {"content": answer.text[3:]}]
    return sse(*(chunk(delta) for delta in deltas), chunk({}, "stop", usage=usage))


def bare(request: Recorded) -> Any:
    """An old server that cuts prompts, refuses what it does not know, and has a tool call only as text."""
    roles = [message["role"] for message in request.messages]
    for field in ("stream_options", "max_tokens", "response_format"):
        if field in request.json:
            return refusal(400, f"Unknown field: {field}")
    if "developer" in roles:
        return refusal(400, "unknown role: developer")
    if isinstance(request.messages[-1]["content"], list):
        return refusal(400, "image_url is not supported")
    if request.json.get("tools"):
        return sse(chunk({"content": '{"name": "weather", "arguments": {"city": "Paris"}}'}), chunk({}, "stop"))
    usage = {"prompt_tokens": 60, "completion_tokens": 2}
    return sse(chunk({"content": "OK"}), chunk({}, "stop", usage=usage))


async def found(script: Any, **fields: Any) -> tuple[dict[str, tuple[str, str]], Any, ScriptedEndpoint]:
    async with ScriptedEndpoint(script, models=("m", "other"), **fields) as server:
        diagnosis = await examine(endpoint(server))
    return {one.what: (one.state, one.detail) for one in diagnosis.findings}, diagnosis, server


async def test_an_endpoint_that_can_do_everything() -> None:
    listing = {"data": [{"id": "m", "max_model_len": 32768}]}
    routes = {"/v1/models": Response((json.dumps(listing).encode(),), headers=JSON)}
    findings, diagnosis, server = await found(capable, routes=routes)
    assert findings == {
        "model list": ("yes", "1, m among them"),
        "streaming": ("yes", ""),
        "usage in streams": ("yes", ""),
        "length limit": ("yes", "max_tokens"),
        "system role": ("yes", ""),
        "reasoning": ("yes", "as reasoning"),
        "tool calls": ("yes", ""),
        "parallel calls": ("yes", ""),
        "tool results": ("yes", ""),
        "developer role": ("yes", ""),
        "pictures": ("yes", ""),
        "JSON schema": ("yes", ""),
        "cache reporting": ("yes", "1,408 tokens"),
        "context window": ("yes", "32,768 tokens"),
    }
    assert (diagnosis.profile, diagnosis.window, diagnosis.warnings) == (Profile(), 32768, ())
    assert len(server.requests) + len(server.others) <= 12


async def test_an_endpoint_that_can_do_little_is_told_as_it_is() -> None:
    ps = {"models": [{"model": "m", "context_length": 4096}]}
    routes = {"/api/ps": Response((json.dumps(ps).encode(),), headers=JSON)}
    findings, diagnosis, _ = await found(bare, routes=routes)
    assert findings == {
        "model list": ("yes", "2, m among them"),
        "streaming": ("unknown", "one piece"),
        "usage in streams": ("yes", ""),
        "length limit": ("no", "takes no limit"),
        "system role": ("yes", ""),
        "reasoning": ("unknown", "none came"),
        "tool calls": ("yes", "as JSON alone"),
        "developer role": ("no", "status 400, unknown role: developer"),
        "pictures": ("no", ""),
        "JSON schema": ("no", ""),
        "cache reporting": ("unknown", ""),
        "context window": ("yes", "4,096 tokens"),
    }
    assert diagnosis.profile == Profile(limit=None, usage=False, vision=False, bare_calls=True)
    told = [dict(warning.arguments) for warning in diagnosis.warnings]
    assert [sorted(one) for one in told] == [["counted", "sent", "url"], ["model", "window"]]
    assert (told[0]["counted"], told[1]["window"]) == (60, 4096)


async def test_a_model_without_tools_is_warned_of() -> None:
    findings, diagnosis, _ = await found(lambda request: say("I would rather not."))
    assert findings["tool calls"] == ("no", "")
    assert [str(warning) for warning in diagnosis.warnings] == [
        "m called no tool when it was asked to: it can hardly work as an agent here."
    ]


async def test_nobody_there_and_a_refused_key_are_errors() -> None:
    with pytest.raises(NetworkError):
        await examine(Endpoint("http://127.0.0.1:9/v1", "", "m"))
    with pytest.raises(AuthError):
        await found(lambda request: refusal(401, "bad key"))
