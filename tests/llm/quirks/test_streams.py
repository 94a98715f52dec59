"""What comes in streams, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.core import loose_json
from codeagent.core.entries import Usage
from codeagent.core.errors import IncompleteReply, ModelError, NetworkError
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall, UserMessage, encode, encode_json, spoken
from codeagent.core.ports import Reply, Request
from tests.llm._playing import HI, ask, client, play
from tests.server.endpoint import Disconnect, Pause, Piece, ScriptedEndpoint, chunk, data_line, sse

TOOLS = encode_json([{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}])
WORK = Request("m", (encode(UserMessage("hi")),), TOOLS)
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "文件.py"}}\n</tool_call>'
END = chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 3})
LINE = b": keep-alive\n\n"


def piece(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": id, "function": function}
    return chunk({"tool_calls": [{key: value for key, value in fields.items() if value is not None}]})


async def called(*pieces: Any, finish: str | None = "tool_calls") -> Reply:
    async with ScriptedEndpoint([sse(*pieces, chunk({}, finish))]) as server:
        return await ask(client(server), WORK)


async def said(*contents: str) -> AssistantMessage:
    """The message of an answer that comes in these pieces, byte by byte."""
    whole = b"".join(data_line(chunk({"content": content})) for content in contents) + data_line(END)
    pieces: list[bytes | Pause] = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    async with ScriptedEndpoint([sse(*pieces)]) as server:
        return (await ask(client(server), WORK)).message


async def test_quirk_22_ids_and_names_are_empty_later() -> None:
    reply = await called(piece(id="c1", name="read_file", arguments=""), piece(id="", name="", arguments='{"a":1}'))
    assert reply.message.calls == (ToolCall("c1", "read_file", '{"a":1}'),)
    (late,) = (await called(piece(name="read_file"), piece(arguments="{}"))).message.calls
    assert (bool(late.id), late.name, late.arguments) == (True, "read_file", "{}")


@pytest.mark.parametrize("indexes", [(0, 0), (None, None), (3, 4), (1, 1)])
async def test_quirk_23_parallel_calls_share_an_index_or_have_none(indexes: tuple[int | None, int | None]) -> None:
    first, second = indexes
    reply = await called(
        piece(first, "c1", "read_file", '{"a":'), piece(first, arguments="1}"), piece(second, "c2", "shell", "{}")
    )
    assert reply.message.calls == (ToolCall("c1", "read_file", '{"a":1}'), ToolCall("c2", "shell", "{}"))


async def test_quirk_23_fragments_are_interleaved() -> None:
    reply = await called(
        piece(0, "c1", "read_file"), piece(1, "c2", "shell"), piece(0, arguments='{"a":'), piece(1, arguments="{}"),
        piece(0, arguments="1}"),
    )  # fmt: skip
    assert reply.message.calls == (ToolCall("c1", "read_file", '{"a":1}'), ToolCall("c2", "shell", "{}"))


@pytest.mark.parametrize(
    ("parts", "arguments"),
    [
        (['{"a":1}'], '{"a":1}'),
        (['{"a', '{"a":', '{"a":1}'], '{"a":1}'),
        ([None], "{}"),
        (["null"], "{}"),
        ([{"a": 1}], '{"a": 1}'),
        (['{"a":1}{"a":1}'], '{"a": 1}'),
    ],
)
async def test_quirk_24_arguments_come_whole_cumulative_null_or_as_an_object(parts: list[Any], arguments: str) -> None:
    reply = await called(piece(id="c1", name="read_file"), *(piece(arguments=part) for part in parts))
    assert reply.message.calls == (ToolCall("c1", "read_file", arguments),)


async def test_quirk_25_slips_in_arguments_are_forgiven_and_the_rest_is_told_with_its_place() -> None:
    (call,) = (await called(piece(id="c1", name="read_file", arguments='{"a": "x\ny", \'b\': 1,}'))).message.calls
    assert loose_json.read(call.arguments) == {"a": "x\ny", "b": 1}
    with pytest.raises(loose_json.LooseError):
        loose_json.read('{"a": [1, 2')


@pytest.mark.parametrize("finish", ["stop", "", "end", "eos", "tool_calls", "function_call"])
async def test_quirk_26_calls_count_whatever_the_word_at_the_end(finish: str) -> None:
    assert (await called(piece(id="c1", name="read_file"), finish=finish)).message.calls == (
        ToolCall("c1", "read_file"),
    )
    async with ScriptedEndpoint([sse(chunk({"content": "a"}), chunk({}, finish))]) as server:
        assert (await ask(client(server), WORK)).message == AssistantMessage("a")


async def test_quirk_27_a_call_that_is_cut_never_runs() -> None:
    reply = await called(piece(id="c1", name="read_file", arguments='{"path": "a'), finish="length")
    assert (reply.cut, reply.broken_calls) == (True, frozenset({"c1"}))


BEGUN = chunk({"content": "a"})


@pytest.mark.parametrize(
    "broken",
    [
        sse(BEGUN, done=False),
        sse(BEGUN, Disconnect(), done=False),
        sse(BEGUN, Disconnect(reset=True), done=False),
        sse(BEGUN, {"error": {"message": "upstream gave up", "code": 502}}, done=False),
        sse(BEGUN, Pause(5), done=False),
    ],
    ids=["end", "closed", "reset", "error", "stall"],
)
async def test_quirk_28_a_stream_that_ends_early_is_worth_a_retry(broken: Any) -> None:
    async with ScriptedEndpoint([broken]) as server:
        with pytest.raises(ModelError) as failed:
            await play(client(server, idle_timeout=0.3))
    assert failed.value.exit_code == 75
    assert isinstance(failed.value, IncompleteReply | NetworkError | ModelError)


@pytest.mark.parametrize(
    "whole",
    [
        (LINE, BEGUN, LINE, {"id": "x"}, chunk(None), END),
        (BEGUN, chunk({}, "stop"), {"error": {"message": "too late", "code": 500}}),
        (BEGUN,),
    ],
    ids=["comments and odd chunks", "an error after the end", "[DONE] alone"],
)
async def test_quirk_28_what_is_whole_is_an_answer(whole: tuple[dict[str, Any] | Piece, ...]) -> None:
    async with ScriptedEndpoint([sse(*whole)]) as server:
        assert (await ask(client(server), HI)).message == AssistantMessage("a")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (("<think>想</think>\n\nYes.",), AssistantMessage("Yes.", (), Reasoning("想"))),
        (("<thi", "nking>hm</think", "ing>Yes."), AssistantMessage("Yes.", (), Reasoning("hm"))),
        (("hm\n</think>\n\nYes.",), AssistantMessage("Yes.", (), Reasoning("hm"))),
        (("<think>on and on",), AssistantMessage("", (), Reasoning("on and on"))),
        (("好。\n<thi", "nk>hm\n</think>\n\nYes."), AssistantMessage("好。\nYes.", (), Reasoning("hm"))),
        (("<think>a</think>One.\n\n  <think>b</think>Two.",), AssistantMessage("One.\n\n  Two.", (), Reasoning("ab"))),
        (("One.\n<think> opens it, and no more",), AssistantMessage("One.\n<think> opens it, and no more")),
        (("a <think>b</think> c",), AssistantMessage("a <think>b</think> c")),
        (("```\n<think>b</think>\n```",), AssistantMessage("```\n<think>b</think>\n```")),
    ],
)
async def test_quirk_29_thinking_in_the_content(contents: tuple[str, ...], message: AssistantMessage) -> None:
    assert await said(*contents) == message
    assert await said(*"".join(contents)) == message


async def test_quirk_30_a_reply_of_thoughts_alone_is_no_failure() -> None:
    async with ScriptedEndpoint([sse(chunk({"reasoning": "The answer is 4."}), END)]) as server:
        message = (await ask(client(server))).message
    assert (message.text, spoken(message)) == ("", AssistantMessage("The answer is 4."))


async def test_quirk_31_a_call_written_as_text_however_the_stream_is_cut() -> None:
    message = await said(*f"<think>\n想\n</think>\n\n我看看。\n{CALL}")
    (call,) = message.calls
    assert (call.written, call.name, json.loads(call.arguments)) == (True, "read_file", {"path": "文件.py"})
    assert message == AssistantMessage("我看看。", (call,), Reasoning("想"))


async def test_quirk_31_a_call_beside_a_call_as_text_counts_alone() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": CALL}), piece(id="c1", name="read_file"), END)]) as server:
        reply = await ask(client(server), WORK)
    assert ([call.id for call in reply.message.calls], reply.message.text) == (["c1"], CALL)


async def test_quirk_31_without_tools_nothing_is_taken_for_a_call() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": CALL}), END)]) as server:
        assert await ask(client(server), HI) == Reply(AssistantMessage(CALL), Usage(9, 3, 0))


async def test_quirk_31_a_call_cut_by_the_length_limit_stays_text() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": CALL[:50]}), chunk({}, "length"))]) as server:
        reply = await ask(client(server), WORK)
    assert reply == Reply(AssistantMessage(CALL[:50]), None, "length", cut=True)
