"""The scripted provider plays its script, and fails where the script does."""

import json
from pathlib import Path

import pytest

from codeagent.core.entries import Usage
from codeagent.core.errors import ConfigError, ModelError, RateLimited
from codeagent.core.events import CallDelta, ReasoningDelta, TextDelta
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall
from codeagent.core.ports import Endpoint, Provider, Reply, Request, StreamItem
from codeagent.llm.providers.scripted import PROVIDER, ScriptedProvider, call, calls, fail, say, summary

ASK = Request("scripted", [b'{"role":"user","content":"hi"}'])


async def play(provider: Provider, request: Request = ASK) -> list[StreamItem]:
    return [item async for item in provider.stream(request)]


async def test_text_comes_in_deltas_and_then_whole() -> None:
    provider = ScriptedProvider([say("Hello, what a day.", reasoning="Hm.", usage=Usage(7, 3))])
    assert await play(provider) == [
        ReasoningDelta("Hm."),
        TextDelta("Hello, what "),
        TextDelta("a day."),
        Reply(AssistantMessage("Hello, what a day.", reasoning=Reasoning("Hm.")), Usage(7, 3)),
    ]
    assert (provider.leftover, provider.requests) == ((), [ASK])


async def test_calls_get_ids_that_are_new_in_the_conversation() -> None:
    provider = ScriptedProvider([[say("Look."), call("read_file", path="a"), call("glob", pattern="*")]])
    resumed = Request("scripted", [b'{"role":"tool","tool_call_id":"call_1"}'])
    *_, reply = await play(provider, resumed)
    assert reply == Reply(
        AssistantMessage(
            "Look.",
            (ToolCall("call_2", "read_file", '{"path": "a"}'), ToolCall("call_3", "glob", '{"pattern": "*"}')),
        ),
        Usage(10, 11),
        "tool_calls",
    )


async def test_a_call_is_seen_growing() -> None:
    items = await play(ScriptedProvider([call("write_file", path="a", content="x" * 40)]))
    assert items[:-1] == [CallDelta(0, "write_file", size) for size in (0, 48, 68)]


async def test_summaries_answer_requests_for_summaries_alone() -> None:
    provider = ScriptedProvider([summary("All of it."), say("Hi.")])
    asked = Request("scripted", [], purpose="summary")
    assert (await play(provider))[0] == TextDelta("Hi.")
    assert (await play(provider, asked))[0] == TextDelta("All of it.")
    with pytest.raises(ModelError, match="used up: no step is left for a summary"):
        await play(provider, asked)


async def test_errors_come_after_what_was_said() -> None:
    provider = ScriptedProvider([say("Half a", error="RateLimited"), fail("Nonsense")])
    stream = provider.stream(ASK)
    assert await anext(stream) == TextDelta("Half a")
    with pytest.raises(RateLimited):
        await anext(stream)
    with pytest.raises(ConfigError, match="Nonsense"):
        await play(provider)


async def test_a_cut_reply_breaks_its_last_call() -> None:
    *_, reply = await play(ScriptedProvider([calls(call("a"), call("b"), say("", cut=True))]))
    assert isinstance(reply, Reply)
    assert (reply.finish, reply.cut, reply.broken_calls) == ("length", True, frozenset({"call_2"}))


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    steps = [
        {
            "calls": [{"name": "shell", "arguments": {"command": "ls"}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2},
        },
        {"text": "短", "purpose": "summary"},
    ]
    path.write_text(json.dumps(steps), "utf-8")
    provider = PROVIDER.open(Endpoint(str(path), "", "scripted"))
    assert (await play(provider))[-1] == Reply(
        AssistantMessage(calls=(ToolCall("call_1", "shell", '{"command": "ls"}'),)), Usage(1, 2), "tool_calls"
    )
    assert (await play(provider, Request("scripted", [], purpose="summary")))[0] == TextDelta("短")


@pytest.mark.parametrize("text", ["{", '{"text": "no list"}', '[{"texd": ""}]', '[{"calls": [{}]}]', "3"])
async def test_a_bad_script_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="is no list of steps"):
        PROVIDER.open(Endpoint(str(path), "", "scripted"))


async def test_without_a_file_it_says_what_it_is_again_and_again() -> None:
    provider = PROVIDER.open(Endpoint("", "", "scripted"))
    first, second = await play(provider), await play(provider)
    assert first == second
    assert isinstance(first[-1], Reply)
    assert "scripted model" in first[-1].message.text
