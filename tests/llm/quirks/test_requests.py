"""What servers refuse in a request, and want in it: each learnt once, kept for later sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import ModelError
from codeagent.core.images import Image
from codeagent.core.messages import (
    AssistantMessage,
    Message,
    Reasoning,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    WireShape,
    encode,
    encode_json,
)
from codeagent.core.ports import Request
from codeagent.lessons import LessonBook
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import say
from codeagent.llm.summarizer import make_summarizer
from tests.llm._playing import ask, client, endpoint
from tests.server.endpoint import Recorded, Response, ScriptedEndpoint, chunk, refusal, sse

ECHO = WireShape(echo_reasoning=True)
LONG = "mcp__文件服务__" + "read-" * 15
SCHEMA = {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "string"}}}
TOOLS = encode_json([{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}])
CALLED = (
    SystemMessage("s"),
    UserMessage("a"),
    AssistantMessage("", (ToolCall("functions.read_file:0", "read_file"),), Reasoning("")),
    ToolMessage("functions.read_file:0", "read_file", "1"),
    UserMessage("b"),
)
PICTURE = UserMessage("what?", (Image("[a.png]", "data:image/png;base64,AAAA"),))
Offends = Callable[[Recorded], bool]


def asked(*messages: Message, shape: WireShape = ECHO, tools: bytes = TOOLS, **fields: Any) -> Request:
    return Request("m", [encode(message, shape) for message in messages], tools, **fields)


async def learnt(
    tmp_path: Path, offends: Offends, status: int, complaint: str, request: Request, **fields: Any
) -> tuple[dict[str, Any], Any]:
    """What a server that refuses such requests teaches, and what it is asked in a later session."""
    book = LessonBook(tmp_path / "profiles.json")

    def strict(asked: Recorded) -> Response | Any:
        return refusal(status, complaint) if offends(asked) else say("ok")

    async with ScriptedEndpoint(strict) as server:
        at = endpoint(server, lessons=book, **fields)
        for _ in range(2):
            assert (await ask(OpenAIChat(at), request)).message.text == "ok"
        assert not offends(server.requests[-1])
        assert not offends(server.requests[-2])
    return dict(book.of(at.place)), server.requests[-1].json


async def sent(request: Request, **fields: Any) -> Any:
    async with ScriptedEndpoint([say("ok")]) as server:
        await ask(client(server, **fields), request)
    return server.requests[0].json


async def test_quirk_01_reasoning_wanted_back_in_every_assistant_message(tmp_path: Path) -> None:
    def offends(request: Recorded) -> bool:
        return any("reasoning_content" not in one for one in request.messages if one["role"] == "assistant")

    talk = (*CALLED, AssistantMessage("c"), UserMessage("d"))
    complaint = "The `reasoning_content` in the thinking mode must be passed back to the API."
    book, body = await learnt(tmp_path, offends, 400, complaint, asked(*talk))
    assert book == {"thoughts": "always"}
    assert [one.get("reasoning_content") for one in body["messages"]] == [None, None, "", None, None, "", None]


async def test_quirk_02_reasoning_alone_is_no_message() -> None:
    async with ScriptedEndpoint([sse(chunk({"reasoning_content": "hm"}), chunk({}, "stop"))]) as server:
        reply = await ask(client(server))
    # Such a reply joins no history: the loop asks again, and takes the thought for the answer in the end.
    assert reply.message == AssistantMessage("", (), Reasoning("hm"))


@pytest.mark.parametrize(
    ("delta", "reasoning"),
    [
        ({"reasoning_content": "a"}, Reasoning("a", "reasoning_content")),
        ({"reasoning": "a"}, Reasoning("a", "reasoning")),
        ({"reasoning_text": "a"}, Reasoning("a", "reasoning_text")),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "a"}]}, Reasoning("a", "reasoning")),
        ({"reasoning_content": "a", "reasoning": "a"}, Reasoning("a", "reasoning_content")),
        ({"reasoning_content": "", "reasoning": "a"}, Reasoning("a", "reasoning")),
    ],
)
async def test_quirk_03_reasoning_comes_under_several_keys(delta: dict[str, Any], reasoning: Reasoning) -> None:
    async with ScriptedEndpoint([sse(chunk(delta), chunk({"content": "b"}, "stop"))]) as server:
        assert (await ask(client(server))).message == AssistantMessage("b", (), reasoning)


async def test_quirk_04_content_may_not_be_null(tmp_path: Path) -> None:
    def offends(request: Recorded) -> bool:
        return any(one["content"] is None for one in request.messages)

    complaint = "messages[2]: invalid type: null, expected content to be a string, content is null"
    book, body = await learnt(tmp_path, offends, 400, complaint, asked(*CALLED))
    assert (book, body["messages"][2]["content"]) == ({"nulls": False}, "")


async def test_quirk_05_text_is_a_plain_string_unless_there_are_pictures() -> None:
    body = await sent(asked(*CALLED, PICTURE))
    kinds = [type(one["content"]).__name__ for one in body["messages"]]
    assert kinds == ["str", "str", "NoneType", "str", "str", "list"]


async def test_quirk_06_the_system_message_is_one_and_first() -> None:
    body = await sent(asked(*CALLED))
    assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "tool", "user"]


async def test_quirk_07_roles_must_alternate(tmp_path: Path) -> None:
    def offends(request: Recorded) -> bool:
        roles = [one["role"] for one in request.messages]
        return any(pair in (("user", "user"), ("tool", "user")) for pair in pairwise(roles))

    complaint = "jinja: Conversation roles must alternate user/assistant/user/assistant/..."
    book, body = await learnt(tmp_path, offends, 500, complaint, asked(*CALLED, UserMessage("c")))
    roles = [(one["role"], one["content"]) for one in body["messages"][3:]]
    assert (book, roles) == ({"alternate": True}, [("tool", "1"), ("assistant", "OK."), ("user", "b\n\nc")])


async def test_quirk_09_usage_in_streams_is_refused_or_sits_in_the_choice(tmp_path: Path) -> None:
    book, body = await learnt(
        tmp_path, lambda r: "stream_options" in r.json, 400, "Unknown field: stream_options", asked(*CALLED)
    )
    assert (book, "stream_options" in body) == ({"usage": False}, False)
    end = chunk({}, "stop")
    end["choices"][0]["usage"] = {"prompt_tokens": 9, "completion_tokens": 2}
    async with ScriptedEndpoint([sse(chunk({"content": "a"}), end), sse(chunk({"content": "a"}, "stop"))]) as server:
        counted = [(await ask(client(server))).usage for _ in range(2)]
    assert [usage and usage.prompt_tokens for usage in counted] == [9, None]


async def test_quirk_10_the_limit_has_another_name(tmp_path: Path) -> None:
    complaint = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    request = asked(*CALLED, max_tokens=99)
    book, body = await learnt(tmp_path, lambda r: "max_tokens" in r.json, 400, complaint, request)
    assert (book, body["max_completion_tokens"]) == ({"limit": "max_completion_tokens"}, 99)


async def test_quirks_11_and_12_temperature_and_tool_choice_are_never_sent() -> None:
    body = await sent(asked(*CALLED))
    assert set(body) == {"model", "stream", "stream_options", "messages", "tools"}
    assert "tools" not in await sent(asked(UserMessage("hi"), tools=b"[]"))


async def test_quirk_12_vllm_without_its_flags_says_which() -> None:
    complaint = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    async with ScriptedEndpoint([refusal(400, complaint)]) as server:
        with pytest.raises(ModelError, match="start it with --enable-auto-tool-choice and --tool-call-parser"):
            await ask(client(server), asked(*CALLED))


async def test_quirk_13_an_extra_field_that_is_refused_is_left_out(tmp_path: Path) -> None:
    extra = (("store", False), ("top_k", 20))
    book, body = await learnt(
        tmp_path, lambda r: "store" in r.json, 400, "Unrecognized argument: store", asked(*CALLED), extra=extra
    )
    assert (book, body.get("store"), body["top_k"]) == ({"dropped": ["store"]}, None, 20)


async def test_quirk_14_a_switch_for_thinking_that_is_refused_is_left_out(tmp_path: Path) -> None:
    complaint = "reasoning_effort: Extra inputs are not permitted"
    request = asked(*CALLED, effort="high")
    book, _ = await learnt(
        tmp_path, lambda r: "reasoning_effort" in r.json, 400, complaint, request, model="gpt-oss-20b"
    )
    assert book == {"efforts": False}


async def test_quirk_15_summaries_are_streamed_too() -> None:
    async with ScriptedEndpoint([say("A summary.")]) as server:
        summarize = make_summarizer(client(server), "m")
        assert await summarize([encode(UserMessage("hi"))], b"[]", "Summarise.") == "A summary."
    assert server.requests[0].json["stream"] is True


async def test_quirk_16_schemas_take_no_references(tmp_path: Path) -> None:
    book, body = await learnt(
        tmp_path, lambda r: b"$ref" in r.body, 400, "tools.0.parameters: $ref is not supported", asked(*CALLED)
    )
    assert book == {"plain_schemas": True}
    assert body["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"x": {"type": "string"}},
    }


async def test_quirk_16_names_of_tools_are_cut_and_told_back(tmp_path: Path) -> None:
    tools = encode_json([{"type": "function", "function": {"name": LONG, "parameters": {"type": "object"}}}])
    calls = (ToolCall("c1", LONG),)
    talk = (UserMessage("a"), AssistantMessage("", calls), ToolMessage("c1", LONG, '{"name":"文"}'), UserMessage("b"))

    def offends(request: Recorded) -> bool:
        return LONG.encode() in request.body

    complaint = "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'."
    book, body = await learnt(tmp_path, offends, 400, complaint, asked(*talk, tools=tools))
    name = body["tools"][0]["function"]["name"]
    assert (book, len(name) <= 64, name.isascii()) == ({"plain_names": True}, True, True)
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == body["messages"][2]["name"] == name
    assert body["messages"][2]["content"] == '{"name":"文"}'
    fragment = {"index": 0, "id": "c2", "function": {"name": name, "arguments": "{}"}}
    async with ScriptedEndpoint([sse(chunk({"tool_calls": [fragment]}, "tool_calls"))]) as server:
        reply = await ask(client(server), asked(UserMessage("a"), tools=tools))
    assert reply.message.calls == (ToolCall("c2", LONG),)


@pytest.mark.parametrize(
    ("complaint", "ids"),
    [
        ("Tool call id was functions.read_file:0 but must be a-z, A-Z, 0-9, with a length of 9.", "nine"),
        ("messages[2].tool_calls[0].id: string should match pattern '^[a-zA-Z0-9_-]+$'", "short"),
    ],
)
async def test_quirk_17_ids_go_back_unchanged_until_they_are_refused(tmp_path: Path, complaint: str, ids: str) -> None:
    assert (await sent(asked(*CALLED)))["messages"][3]["tool_call_id"] == "functions.read_file:0"
    book, body = await learnt(tmp_path, lambda r: b"functions.read_file:0" in r.body, 400, complaint, asked(*CALLED))
    call, result = body["messages"][2]["tool_calls"][0], body["messages"][3]
    assert (book, call["id"]) == ({"ids": ids}, result["tool_call_id"])


async def test_quirk_18_a_model_that_sees_nothing_is_told_so_for_good(tmp_path: Path) -> None:
    complaint = "messages[0]: unknown variant `image_url`, expected `text`"
    book, body = await learnt(tmp_path, lambda r: b"image_url" in r.body, 400, complaint, asked(PICTURE))
    assert (book, body["messages"][0]["content"]) == ({"vision": False}, "what?\n[a.png] (not shown here)")


async def test_quirk_20_halves_of_characters_do_no_harm() -> None:
    body = encode(ToolMessage("c", "shell", "a\ud83d\x00\x1b\u2028b"))
    assert json.loads(body)["content"] == "a\ud83d\x00\x1b\u2028b"
    assert all(byte >= 32 for byte in body)
    async with ScriptedEndpoint([say("ok")]) as server:
        await ask(client(server), Request("m", [body]))
    server.requests[0].body.decode()


async def test_quirk_21_the_thoughts_of_another_model_are_not_echoed() -> None:
    reader = WireShape(echo_reasoning=True, model="m")
    talk = [AssistantMessage("a", (), Reasoning(by, "reasoning", by)) for by in ("m", "other", "")]
    body = await sent(asked(*talk, shape=reader))
    assert [one.get("reasoning") for one in body["messages"]] == ["m", None, ""]
    async with ScriptedEndpoint([say("ok", reasoning="hm")]) as server:
        reply = await ask(client(server))
    assert reply.message.reasoning is not None
    assert reply.message.reasoning.by == "m"
