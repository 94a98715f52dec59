"""How servers say no, and where they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.agent.cutting import CutWatch
from codeagent.core.entries import Usage
from codeagent.core.errors import ContextOverflow, ModelError, Overloaded, RateLimited
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session
from codeagent.llm.presets import normalise_url
from codeagent.llm.probe import context_window
from tests.llm._playing import ask, client, endpoint
from tests.server.endpoint import JSON, Response, ScriptedEndpoint, chunk, refusal, sse


def told(value: Any) -> Response:
    return Response((json.dumps(value).encode(),), headers=JSON)


def test_quirk_08_each_call_is_followed_by_its_result(tmp_path: Any) -> None:
    history: History = new_session(tmp_path / "s.jsonl", SessionInfo("s", "p", "/", "m", "0"))
    history.append(UserMessage("a"), origin="user", new_turn=True)
    history.append(AssistantMessage("", (ToolCall("c1", "f"), ToolCall("c2", "f"))), origin="model")
    history.append(ToolMessage("c2", "f", "2"), origin="tool")
    history.repair_pairs()
    history.append(UserMessage("b"), origin="user", new_turn=True)
    sent = [json.loads(data) for data in history.wire()]
    history.close()
    assert [one.get("tool_call_id", one["role"]) for one in sent] == ["system", "user", "assistant", "c2", "c1", "user"]


async def test_quirk_19_ollama_tells_what_it_runs_with_and_cuts_without_a_word() -> None:
    routes = {"/api/ps": told({"models": [{"model": "m", "context_length": 4096}]})}
    async with ScriptedEndpoint(routes=routes) as server:
        assert await context_window(endpoint(server)) == 4096
    watch = CutWatch("m")
    counts = [(Usage(4000, 9), 5000, Usage(4010, 9)), (Usage(4010, 9), 6000, Usage(4012, 9))]
    assert [len(watch.look(*count)) for count in counts] == [0, 1]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refusal(400, "This model's maximum context length is 8192 tokens"), ContextOverflow),
        (refusal(400, "request (20031 tokens) exceeds the available context size (8192 tokens)"), ContextOverflow),
        (Response((b"",), 413, JSON), ContextOverflow),
        (refusal(429, "Too many tokens per minute: reduce the length of the messages"), RateLimited),
        (sse(chunk({}, "model_context_window_exceeded")), ContextOverflow),
    ],
)
async def test_quirk_32_an_overflow_has_many_words_and_a_rate_limit_is_none(
    answer: Response, error: type[ModelError]
) -> None:
    async with ScriptedEndpoint([answer]) as server:
        with pytest.raises(error):
            await ask(client(server))


@pytest.mark.parametrize(
    ("answer", "error", "wait"),
    [
        (refusal(429, "slow down", headers=(("Retry-After", "7"),)), RateLimited, 7.0),
        (refusal(429, "slow down", headers=(("x-ratelimit-reset-requests", "1m30s"),)), RateLimited, 90.0),
        (refusal(503, "busy", headers=(("retry-after-ms", "1500"),)), Overloaded, 1.5),
        (refusal(400, "The model is overloaded, try again later"), Overloaded, None),
        (told({"error": {"message": "Overloaded", "code": 529}}), Overloaded, None),
        (sse({"error": {"type": "overloaded_error", "message": "Overloaded"}}), Overloaded, None),
    ],
)
async def test_quirk_33_overload_comes_with_any_status_and_a_wait_in_any_form(
    answer: Response, error: type[Overloaded] | type[RateLimited], wait: float | None
) -> None:
    async with ScriptedEndpoint([answer]) as server:
        with pytest.raises(error) as failed:
            await ask(client(server))
    assert failed.value.retry_after == wait


@pytest.mark.parametrize("pasted", ["{}", "{}/", "{}/chat/completions", "{}//chat/completions/?x=1", "{}/models"])
async def test_quirk_34_a_base_url_may_be_pasted_in_any_form_and_is_named_in_errors(pasted: str) -> None:
    async with ScriptedEndpoint([sse(chunk({"content": "a"}, "stop")), refusal(404, "nothing here")]) as server:
        url = normalise_url(pasted.format(server.base_url))
        assert (url, normalise_url(server.base_url.removesuffix("/v1"))) == (server.base_url, server.base_url)
        assert (await ask(client(server, base_url=url, api_key=""))).message == AssistantMessage("a")
        with pytest.raises(ModelError, match=f"no /chat/completions at {server.base_url}"):
            await ask(client(server, base_url=url))


@pytest.mark.parametrize(
    ("models", "window"),
    [
        (refusal(404, "no"), None),
        (told({"object": "list", "data": [{"id": "m", "object": "model"}]}), None),
        (told({"data": [{"id": "m", "max_model_len": 32_768}]}), 32_768),
    ],
    ids=["none", "without sizes", "vLLM"],
)
async def test_quirk_35_models_and_their_windows_may_be_unknown(models: Response, window: int | None) -> None:
    async with ScriptedEndpoint([sse(chunk({"content": "a"}, "stop"))], routes={"/v1/models": models}) as server:
        assert await context_window(endpoint(server)) == window
        assert (await ask(client(server))).message == AssistantMessage("a")
