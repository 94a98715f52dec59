"""Oddities of servers that reach across the parts of a stream, played byte by byte over a real socket."""

from __future__ import annotations

import json

from codeagent.core.entries import Usage
from codeagent.core.messages import AssistantMessage, Reasoning, UserMessage, encode, encode_json
from codeagent.core.ports import Reply, Request
from tests.llm._playing import ask, client
from tests.server.endpoint import Pause, ScriptedEndpoint, chunk, data_line, sse

TOOLS = encode_json([{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}])
HI = Request("m", (encode(UserMessage("hi")),), TOOLS)
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "文件.py"}}\n</tool_call>'
END = chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 3})


async def test_thinking_and_a_call_in_the_content_however_the_stream_is_cut() -> None:
    whole = b"".join(data_line(chunk({"content": char})) for char in f"<think>\n想\n</think>\n\n我看看。\n{CALL}")
    whole += data_line(END)
    pieces: list[bytes | Pause] = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    async with ScriptedEndpoint([sse(*pieces)]) as server:
        reply = await ask(client(server), HI)
    (call,) = reply.message.calls
    assert (call.written, call.name, json.loads(call.arguments)) == (True, "read_file", {"path": "文件.py"})
    assert reply == Reply(AssistantMessage("我看看。", (call,), Reasoning("想")), Usage(9, 3, 0))


async def test_a_call_beside_a_call_as_text_counts_alone() -> None:
    fragment = {"index": 0, "id": "c1", "function": {"name": "read_file", "arguments": "{}"}}
    async with ScriptedEndpoint([sse(chunk({"content": CALL}), chunk({"tool_calls": [fragment]}), END)]) as server:
        reply = await ask(client(server), HI)
    assert ([call.id for call in reply.message.calls], reply.message.text) == (["c1"], CALL)


async def test_without_tools_nothing_is_taken_for_a_call() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": CALL}), END)]) as server:
        reply = await ask(client(server), Request("m", HI.messages))
    assert reply.message == AssistantMessage(CALL)


async def test_a_call_cut_by_the_length_limit_stays_text() -> None:
    cut = chunk({}, "length")
    async with ScriptedEndpoint([sse(chunk({"content": CALL[:50]}), cut)]) as server:
        reply = await ask(client(server), HI)
    assert reply == Reply(AssistantMessage(CALL[:50]), None, "length", cut=True)


async def test_a_thought_that_never_closes_does_not_fail_the_stream() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": "<think>on and on"}), END)]) as server:
        reply = await ask(client(server), HI)
    assert reply.message == AssistantMessage("", (), Reasoning("on and on"))
