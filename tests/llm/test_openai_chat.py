"""The client over a real socket: what it sends, what it reads, and which failure is which."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codeagent.core.entries import Usage
from codeagent.core.errors import (
    AuthError,
    ContextOverflow,
    IncompleteReply,
    ModelError,
    ModelNotFound,
    NetworkError,
    Overloaded,
    PassingError,
    RateLimited,
)
from codeagent.core.events import CallDelta, ReasoningDelta, TextDelta
from codeagent.core.images import Image, data_url
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall, UserMessage, blind, encode
from codeagent.core.ports import Endpoint, Reply, Request
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import call, calls, say
from tests.llm._playing import HI, KEY, ask, client, endpoint, play
from tests.pictures import png
from tests.server.endpoint import JSON, Disconnect, Pause, Response, ScriptedEndpoint, chunk, data_line, refusal, sse

HALF = chunk({"content": "Half a"})
END = chunk(None, "stop")
CUT_CALL = chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "glob", "arguments": '{"pattern": "*'}}]})


async def test_a_reply_comes_in_deltas_and_then_whole() -> None:
    step = calls(say("我来读文件。", reasoning="Hm."), call("read_file", path="a.py"))
    async with ScriptedEndpoint([step]) as server:
        items = await play(client(server))
    assert items == [
        ReasoningDelta("Hm."),
        TextDelta("我来读文件。"),
        CallDelta(0, "read_file", 0),
        CallDelta(0, "read_file", 12),
        CallDelta(0, "read_file", 16),
        Reply(
            AssistantMessage("我来读文件。", (ToolCall("call_1", "read_file", '{"path": "a.py"}'),), Reasoning("Hm.")),
            Usage(len(server.requests[0].body) // 4, 11),
            "tool_calls",
        ),
    ]


async def test_the_body_holds_the_messages_and_tools_as_they_were_given() -> None:
    tools = b'[{"type":"function","function":{"name":"glob"}}]'
    messages = (encode(UserMessage("早上好 🌞")), b'{"role":"assistant","content":"odd  spacing"}')
    async with ScriptedEndpoint([say("ok"), say("ok")]) as server:
        provider = client(server, extra=(("seed", 7),))
        await ask(provider, Request("m", messages, tools, max_tokens=100, purpose="summary"))
        await ask(provider, Request("m", messages))
    full, plain = server.requests
    assert full.body == (
        b'{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"seed":7,"tools":'
        + tools
        + b',"messages":['
        + b",".join(messages)
        + b"]}"
    )
    assert plain.json == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "seed": 7,
        "messages": [json.loads(message) for message in messages],
    }
    assert (full.headers["authorization"], full.headers["content-type"]) == (f"Bearer {KEY}", "application/json")


async def test_a_connection_serves_many_requests() -> None:
    async with ScriptedEndpoint([say("a"), say("b"), refusal(400, "no"), say("c")]) as server:
        provider = client(server)
        await ask(provider)
        await ask(provider)
        with pytest.raises(ModelError):
            await ask(provider)
        await ask(provider)
        await provider.aclose()
    assert (len(server.requests), server.connections) == (4, 1)


async def test_the_stream_may_be_cut_anywhere() -> None:
    whole = b"".join(data_line(one) for one in (chunk({"content": "好🌞"}), chunk({"content": "x"}), END))
    pieces: list[bytes | Pause] = []
    for at in range(len(whole)):
        pieces += [whole[at : at + 1], Pause(0)]
    async with ScriptedEndpoint([sse(*pieces)]) as server:
        assert await play(client(server)) == [TextDelta("好🌞"), TextDelta("x"), Reply(AssistantMessage("好🌞x"))]


async def test_comments_keep_a_stream_alive_and_say_nothing() -> None:
    comments = (b": OPENROUTER PROCESSING\n\n", Pause(0.1), b": OPENROUTER PROCESSING\n\n", Pause(0.1))
    async with ScriptedEndpoint([sse(*comments, chunk({"content": "x"}), END)]) as server:
        assert await ask(client(server, first_token_timeout=0.19, idle_timeout=0.19)) == Reply(AssistantMessage("x"))


UNSTREAMED = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "whole",
    [
        sse(chunk({"content": "Hi"}), END, done=False),
        sse(chunk({"content": "Hi"})),
        sse(chunk({"content": "Hi"}), END, {"error": {"message": "late"}}),
        sse(chunk({"content": "Hi"}), END, b"data: {garbled\n\n"),
        sse(chunk({"content": "Hi"}), END, Disconnect(), done=False),
        sse(chunk({"content": "Hi"}), END, Disconnect(reset=True), done=False),
        sse(chunk({"content": "Hi"}, "stop"), b"data: [DONE]\n\n", Pause(30)),
        Response((json.dumps(UNSTREAMED).encode(),), headers=JSON),
        Response((json.dumps(UNSTREAMED, indent=1).encode(),), headers=JSON),
        Response((b"\n", data_line(chunk({"content": "Hi"})), b"data: [DONE]\n\n"), headers=JSON),
    ],
)
async def test_what_is_whole_is_an_answer(whole: Response) -> None:
    async with ScriptedEndpoint([whole, say("next")]) as server:
        provider = client(server)
        assert await ask(provider) == Reply(AssistantMessage("Hi"))
        assert (await ask(provider)).message.text == "next"


GARBLED = b'data: {"choices": [{"delta": {"content": "x"\n\n'


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        (sse(HALF, done=False), IncompleteReply),
        (sse(done=False), IncompleteReply),
        (sse(), IncompleteReply),
        (sse(HALF, b'data: {"choices": ' + b"[" * 100_000 + b"}\n\n", END), IncompleteReply),
        (Response((b'{"ok": true}',), headers=JSON), IncompleteReply),
        (Response((b'[{"error": {"message": "m", "code": 503}}]',), headers=JSON), Overloaded),
        (sse(HALF, GARBLED, END), IncompleteReply),
        (sse(HALF, Disconnect(), done=False), IncompleteReply),
        (sse(HALF, Pause(0.05), Disconnect(reset=True), done=False), IncompleteReply),
        (sse(HALF, chunk(None, "error")), IncompleteReply),
        (sse(HALF, chunk(None, "network_error")), IncompleteReply),
        (sse(HALF, chunk(None, "content_filter")), ModelError),
        (sse(HALF, chunk(None, "sensitive")), ModelError),
        (sse(HALF, chunk(None, "SAFETY")), ModelError),
        (sse(chunk({"role": "assistant", "content": ""})), IncompleteReply),
        (sse(chunk({"reasoning": "Hm."})), IncompleteReply),
        (sse(HALF, CUT_CALL), IncompleteReply),
        (sse(HALF, chunk(None, "insufficient_system_resource")), Overloaded),
        (sse(HALF, chunk(None, "model_context_window_exceeded")), ContextOverflow),
        (sse(HALF, Pause(30)), NetworkError),
        (sse(Pause(30)), NetworkError),
        (Response((Pause(30),), framed=False), NetworkError),
        (Response((Disconnect(),), framed=False), NetworkError),
        (Response((b"SSH-2.0-OpenSSH_9.2\r\n", Disconnect()), framed=False), NetworkError),
        (sse({"error": {"message": "Overloaded", "type": "overloaded_error"}}), Overloaded),
        (sse(HALF, {"error": {"message": "Rate limit reached", "code": 429}}), RateLimited),
        (sse({"error": {"message": "Upstream error", "code": 502}}), Overloaded),
        (sse({"object": "error", "message": "maximum context length is 8192 tokens", "code": 400}), ContextOverflow),
        (Response((b'{"error": {"message": "The server is busy"}}',), headers=JSON), Overloaded),
        (Response((b"<html>Log in to the network</html>",), headers=(("Content-Type", "text/html"),)), ModelError),
    ],
)
async def test_what_is_not_whole_is_a_failure(broken: Response, error: type[ModelError]) -> None:
    async with ScriptedEndpoint([broken]) as server:
        with pytest.raises(error) as raised:
            await ask(client(server, first_token_timeout=0.3, idle_timeout=0.2))
    assert type(raised.value) is error


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "Incorrect API key provided", AuthError),
        (403, "Country not supported", ModelError),
        (403, "Invalid API key", AuthError),
        (402, "Insufficient Balance", ModelError),
        (429, "You exceeded your current quota, please check your plan and billing details", ModelError),
        (404, "The model `m` does not exist", ModelNotFound),
        (400, "Model Not Exist", ModelNotFound),
        (404, "", ModelError),
        (400, "This model's maximum context length is 65536 tokens", ContextOverflow),
        (413, "", ContextOverflow),
        (429, "Too many tokens: rate limit reached for requests", RateLimited),
        (500, "Internal server error", Overloaded),
        (503, "Loading model", Overloaded),
        (529, "Overloaded", Overloaded),
        (400, "The engine is currently overloaded, please try again later", Overloaded),
        (422, "messages.0.content: field required", ModelError),
    ],
)
async def test_a_refusal_is_one_sentence_of_its_kind(status: int, message: str, error: type[ModelError]) -> None:
    async with ScriptedEndpoint([refusal(status, message)]) as server:
        with pytest.raises(ModelError) as raised:
            await ask(client(server))
    assert type(raised.value) is error
    assert str(status) in str(raised.value)
    assert message in str(raised.value) or not message


async def test_a_refusal_never_shows_the_key_or_raw_control_characters() -> None:
    async with ScriptedEndpoint([refusal(401, f"bad key {KEY}, or sk-proj-abcdefgh\x1b[31m")]) as server:
        with pytest.raises(AuthError) as raised:
            await ask(client(server))
    assert str(raised.value) == (
        f"{server.base_url} refused the key: status 401, bad key ***, or *** [31m. "
        "Set CODEAGENT_API_KEY or run `codeagent setup`."
    )


async def test_a_tiny_key_does_not_mangle_what_is_told() -> None:
    async with ScriptedEndpoint([refusal(401, "Look up the key on the web page")]) as server:
        with pytest.raises(AuthError) as raised:
            await ask(client(server, api_key="k", key_source="OPENAI_API_KEY"))
    assert str(raised.value) == (
        f"{server.base_url} refused the key of OPENAI_API_KEY: status 401, Look up the key on the web page. "
        "Set another there or run `codeagent setup`."
    )


async def test_where_no_key_was_sent_one_is_wanted() -> None:
    async with ScriptedEndpoint([refusal(401, "No auth")]) as server:
        with pytest.raises(AuthError) as raised:
            await ask(client(server, api_key=""))
    assert str(raised.value) == (
        f"{server.base_url} wants a key: status 401, No auth. Set CODEAGENT_API_KEY or run `codeagent setup`."
    )


async def test_an_answer_held_back_says_why_and_keeps_what_was_shown() -> None:
    async with ScriptedEndpoint([sse(HALF, chunk(None, "content_filter"))]) as server:
        stream = client(server).stream(HI)
        assert await anext(stream) == TextDelta("Half a")
        with pytest.raises(ModelError) as raised:
            await anext(stream)
    assert str(raised.value) == (
        f"{server.base_url} held its answer back (content_filter): say it in other words or choose another model."
    )


async def test_nobody_there_is_a_network_error() -> None:
    async with ScriptedEndpoint() as server:
        url = server.base_url
    with pytest.raises(NetworkError, match="cannot be reached"):
        await ask(OpenAIChat(Endpoint(url, "", "m")))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "http://[::1/v1", "http://a b/v1"])
async def test_an_unusable_url_is_not_tried_again(url: str) -> None:
    with pytest.raises(ModelError) as raised:
        await ask(OpenAIChat(Endpoint(url, "", "m")))
    assert not isinstance(raised.value, PassingError)


async def test_an_unusable_key_is_one_sentence_that_does_not_show_it() -> None:
    async with ScriptedEndpoint() as server:
        for key in ("钥匙-0123456789", "sk-abcdefgh\nsecond"):
            with pytest.raises(ModelError) as raised:
                await ask(client(server, api_key=key))
            assert key not in str(raised.value)
            assert "second" not in str(raised.value)


async def test_retry_after_is_passed_on() -> None:
    async with ScriptedEndpoint([refusal(429, "slow down", headers=(("Retry-After", "7"),))]) as server:
        with pytest.raises(RateLimited) as raised:
            await ask(client(server))
    assert raised.value.retry_after == 7


async def test_a_refused_field_is_left_out_from_then_on() -> None:
    def strict(request: Any) -> Any:
        for field in ("stream_options", "max_tokens"):
            if field in request.json:
                return refusal(400, f"Unsupported parameter: {field}")
        return say("ok")

    async with ScriptedEndpoint(strict) as server:
        provider = client(server)
        bounded = Request("m", HI.messages, max_tokens=9)
        assert (await ask(provider, bounded)).message.text == "ok"
        assert (await ask(provider, bounded)).message.text == "ok"
    assert [sorted(set(one.json) & {"stream_options", "max_tokens"}) for one in server.requests] == [
        ["max_tokens", "stream_options"],
        ["max_tokens"],
        [],
        [],
    ]


async def test_a_cancelled_request_closes_its_connection() -> None:
    async with ScriptedEndpoint([sse(HALF, Pause(30)), say("after")]) as server:
        provider = client(server)
        seen = asyncio.Event()

        async def read() -> None:
            async for _ in provider.stream(HI):
                seen.set()

        task = asyncio.create_task(read())
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            while not server.hung_up:
                await asyncio.sleep(0.01)
        assert (await ask(provider)).message.text == "after"


async def test_a_stream_left_early_closes_its_connection() -> None:
    async with ScriptedEndpoint([sse(HALF, Pause(30))]) as server:
        stream = client(server).stream(HI)
        assert await anext(stream) == TextDelta("Half a")
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(5):
            while not server.hung_up:
                await asyncio.sleep(0.01)


async def test_warming_makes_no_request_and_never_fails() -> None:
    async with ScriptedEndpoint([say("ok")]) as server:
        provider = client(server)
        await provider.warm()
        assert (server.requests, server.connections) == ([], 0)
        assert (await ask(provider)).message.text == "ok"
    await OpenAIChat(Endpoint("http://[::1/v1", "", "m")).warm()


async def test_no_key_is_needed_where_none_is_asked_for() -> None:
    async with ScriptedEndpoint([say("ok")]) as server:
        await ask(OpenAIChat(endpoint(server, api_key="")))
    assert server.requests[0].headers["authorization"] == "Bearer none"


async def test_an_environment_that_allows_no_connection_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:70")
    with pytest.raises(ModelError, match="can be set up"):
        await ask(OpenAIChat(Endpoint("https://example.invalid/v1", "", "m")))


async def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with ScriptedEndpoint([say("ok")]) as server:
        assert (await ask(client(server))).message.text == "ok"


LOOK = encode(UserMessage("Look.", (Image("[image a.png: PNG, 3x2]", data_url("png", png())),)))


async def test_pictures_are_sent_as_they_are() -> None:
    async with ScriptedEndpoint([say("Black.")]) as server:
        await ask(client(server), Request("m", (LOOK,)))
    assert LOOK in server.requests[0].body


@pytest.mark.parametrize(("status", "words"), [(400, "unknown variant `image_url`"), (404, "No endpoints for images"),
                                               (500, "image input is not supported")])  # fmt: skip
async def test_pictures_that_are_refused_become_notes_from_then_on(status: int, words: str) -> None:
    async with ScriptedEndpoint([refusal(status, words), say("ok"), say("ok")]) as server:
        provider = client(server)
        await ask(provider, Request("m", (LOOK,)))
        await ask(provider, Request("m", (LOOK, *HI.messages)))
    assert [[LOOK in one.body, blind(LOOK) in one.body] for one in server.requests] == [
        [True, False], [False, True], [False, True],
    ]  # fmt: skip


async def test_a_model_that_is_known_to_see_nothing_is_sent_no_picture() -> None:
    async with ScriptedEndpoint([say("ok")]) as server:
        await ask(client(server, model="deepseek-chat"), Request("deepseek-chat", (LOOK,)))
    assert blind(LOOK) in server.requests[0].body


async def test_a_complaint_about_pictures_where_there_are_none_is_an_error() -> None:
    async with ScriptedEndpoint([refusal(400, "image_url is not supported")]) as server:
        with pytest.raises(ModelError):
            await ask(client(server))
