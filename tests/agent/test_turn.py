"""A turn as the events that tell of it and the messages that stay."""

from __future__ import annotations

import json

import pytest

from codeagent.core.entries import Usage
from codeagent.core.events import (
    CallDelta,
    ReasoningDelta,
    Replied,
    Steered,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall, ToolMessage, UserMessage
from codeagent.core.tools import ToolResult
from codeagent.llm.providers.scripted import Step, call, calls, say
from tests.agent._world import USED, World, check_valid, ended, events, happens, messages, said, until, with_usage

READ = ToolCall("call_1", "read_file", '{"path": "a.txt"}')


async def test_a_turn_that_only_talks(world: World) -> None:
    session = world.begin([with_usage(say("Hello, 世界!", reasoning="hm"))])
    assert await events(session.run_turn("hi")) == [
        TurnStarted(1, "hi"),
        StepStarted(1, 0),
        ReasoningDelta("hm"),
        TextDelta("Hello, 世界!"),
        Replied("m2", AssistantMessage("Hello, 世界!", (), Reasoning("hm")), USED, 0.0),
        TurnEnded("done", 1, 0.0),
    ]
    assert messages(session) == [UserMessage("hi"), AssistantMessage("Hello, 世界!", (), Reasoning("hm"))]
    check_valid(session)


async def test_a_turn_that_uses_a_tool(world: World) -> None:
    world.file("a.txt", "one\n二\n")
    session = world.begin([with_usage(call("read_file", path="a.txt")), with_usage(say("Two lines."))])
    assert await events(session.run_turn("how many lines?")) == [
        TurnStarted(1, "how many lines?"),
        StepStarted(1, 0),
        CallDelta(0, "read_file", 0),
        CallDelta(0, "read_file", len(READ.arguments)),
        Replied("m2", AssistantMessage("", (READ,)), USED, 0.0),
        ToolStarted(READ, "Read a.txt"),
        ToolFinished(READ, "Read a.txt", ToolResult("1\tone\n2\t二", summary="2 lines"), 0.0),
        StepStarted(2, 0),
        TextDelta("Two lines."),
        Replied("m4", AssistantMessage("Two lines."), USED, 0.0),
        TurnEnded("done", 2, 0.0),
    ]
    assert messages(session) == [
        UserMessage("how many lines?"),
        AssistantMessage("", (READ,)),
        ToolMessage("call_1", "read_file", "1\tone\n2\t二"),
        AssistantMessage("Two lines."),
    ]
    check_valid(session)


async def test_what_a_tool_prints_is_told_while_it_runs(world: World) -> None:
    session = world.begin([call("shell", command="echo 甲"), say("Done.")])
    seen = await events(session.run_turn("go"))
    (progress,) = [event for event in seen if isinstance(event, ToolProgress)]
    (finished,) = [place for place, event in enumerate(seen) if isinstance(event, ToolFinished)]
    assert progress == ToolProgress("call_1", "甲\n")
    assert seen.index(progress) < finished


async def test_reads_of_one_reply_run_together_and_stand_in_the_order_of_the_calls(world: World) -> None:
    world.file("a.txt", "a")
    names = ["a.txt", "gone.txt", "a.txt"]
    session = world.begin([calls(*(call("read_file", path=name) for name in names)), say("So.")])
    seen = await happens(session.run_turn("read"))
    kinds = [type(event).__name__ for event in seen]
    assert kinds[3:9] == ["ToolStarted"] * 3 + ["ToolFinished"] * 3
    assert [event.call.id for event in seen if isinstance(event, ToolFinished)] == ["call_1", "call_2", "call_3"]
    results = [message for message in messages(session) if isinstance(message, ToolMessage)]
    assert [result.call_id for result in results] == ["call_1", "call_2", "call_3"]
    assert (results[0].text, results[2].text) == ("1\ta", "1\ta")
    assert "gone.txt" in results[1].text
    check_valid(session)


async def test_a_quick_read_behind_a_slow_one_is_told_when_it_is_on_disk(world: World) -> None:
    """What was told outlives a kill, so nothing is told of a result that waits for its place."""
    world.file("big.txt", "x\n" * 400_000)
    world.file("small.txt", "s")
    script = [calls(call("grep", pattern="y+x", path="big.txt"), call("read_file", path="small.txt")), say("So.")]
    session = world.begin(script)
    async for event in session.run_turn("look"):
        if isinstance(event, ToolFinished):
            on_disk = session.history.path.read_text()
            assert f'"tool_call_id":"{event.call.id}"' in on_disk
    assert [entry.origin for entry in session.history.entries] == ["user", "model", "tool", "tool", "model"]


async def test_writes_of_one_reply_run_in_order(world: World) -> None:
    steps = [
        call("write_file", path="a.txt", content="one"),
        call("shell", command="cat a.txt; echo two > a.txt"),
        call("read_file", path="a.txt"),
        call("shell", command="rm a.txt"),
        call("read_file", path="a.txt"),
    ]
    session = world.begin([calls(*steps), say("Done.")])
    seen = await happens(session.run_turn("go"))
    order = [
        (type(event).__name__[4:], event.call.id) for event in seen if isinstance(event, ToolStarted | ToolFinished)
    ]
    ids = [f"call_{number}" for number in range(1, 6)]
    assert order == [(what, id) for id in ids for what in ("Started", "Finished")]
    results = {m.call_id: m.text for m in messages(session) if isinstance(m, ToolMessage)}
    assert results["call_2"] == "one\n[exit 0]"
    assert results["call_3"] == "1\ttwo"
    assert "a.txt" in results["call_5"]
    check_valid(session)


async def test_ids_may_come_again_in_later_steps_and_turns(world: World) -> None:
    again = Step(calls=(ToolCall("functions.glob:0", "glob", '{"pattern": "*"}'),))
    session = world.begin([again, again, say("One."), again, say("Two.")])
    await happens(session.run_turn("a"))
    await happens(session.run_turn("b"))
    assert [one.call_id for one in messages(session) if isinstance(one, ToolMessage)] == ["functions.glob:0"] * 3
    check_valid(session)


async def test_calls_that_cannot_be_made_are_answered_and_the_turn_goes_on(world: World) -> None:
    broken = ToolCall("c1", "read_file", '{"path": ')
    unknown = ToolCall("c2", "read_fil", "{}")
    wrong = ToolCall("c3", "read_file", '{"path": {}}')
    reply = say("")
    session = world.begin([type(reply)(calls=(broken, unknown, wrong)), say("I see.")])
    seen = await happens(session.run_turn("go"))
    results = [event.result for event in seen if isinstance(event, ToolFinished)]
    assert [(result.failed, result.summary) for result in results] == [
        (True, "bad arguments"),
        (True, "no such tool"),
        (True, "bad arguments"),
    ]
    assert ended(seen) == TurnEnded("done", 2, 0.0)
    check_valid(session)


# ---- words put in between --------------------------------------------------------------------------------------------


async def test_what_is_typed_during_a_tool_joins_behind_its_result(world: World) -> None:
    session = world.begin([call("shell", command="true"), say("Yes.")])
    seen = await until(session.run_turn("go"), ToolStarted, lambda: session.steer("faster"))
    assert [event for event in seen if isinstance(event, Steered)] == [Steered("faster")]
    assert said(session) == ["go", "shell", "[(no output)\n[exit 0]]", "faster", "Yes."]
    assert [entry.origin for entry in session.history.entries] == ["user", "model", "tool", "steer", "model"]
    assert {entry.turn for entry in session.history.entries} == {1}
    assert session.queued == ()
    check_valid(session)


async def test_what_is_typed_during_the_answer_keeps_the_turn_going(world: World) -> None:
    long = "One, and more of it. " * 10
    session = world.begin([say(long), say("Two.")])
    seen = await until(session.run_turn("go"), TextDelta, lambda: session.steer("more"))
    assert said(session) == ["go", long, "more", "Two."]
    assert ended(seen) == TurnEnded("done", 2, 0.0)


async def test_what_came_too_late_for_the_turn_waits(world: World) -> None:
    session = world.begin([say("One.")])
    await until(session.run_turn("go"), TurnEnded, lambda: session.steer("late"))
    assert (said(session), session.queued) == (["go", "One."], ("late",))


# ---- replies that are cut or empty -----------------------------------------------------------------------------------


async def test_a_cut_answer_is_no_good_end(world: World) -> None:
    session = world.begin([say("It begins", cut=True), say("and ends.")])
    end = ended(await events(session.run_turn("write")))
    assert (end.reason, end.steps) == ("limit", 1)
    assert "length limit" in str(end.error)
    assert ended(await events(session.run_turn("go on"))).reason == "done"
    assert said(session) == ["write", "It begins", "go on", "and ends."]


async def test_a_call_that_was_cut_does_not_run_and_the_whole_ones_do(world: World) -> None:
    script = [
        calls(
            call("write_file", path="a.txt", content="whole"),
            call("write_file", path="b.txt", content="cut"),
            say("", cut=True),
        ),
        say("Again, smaller."),
    ]
    session = world.begin(script)
    seen = await happens(session.run_turn("write"))
    results = [event.result for event in seen if isinstance(event, ToolFinished)]
    assert [(result.failed, result.summary == "cut off") for result in results] == [(False, False), (True, True)]
    assert ((world.top / "a.txt").read_text(), (world.top / "b.txt").exists()) == ("whole", False)
    assert ended(seen) == TurnEnded("done", 2, 0.0)
    check_valid(session)


@pytest.mark.parametrize("nothing", [say(""), say(" \n"), say("", reasoning="so much to think about")])
async def test_an_empty_answer_is_asked_for_once_more(world: World, nothing: object) -> None:
    session = world.begin([nothing, say("Here.")])  # type: ignore[list-item]
    seen = await happens(session.run_turn("hi"))
    kinds = [type(event).__name__ for event in seen]
    assert kinds == ["TurnStarted", "StepStarted", "Retrying", "StepStarted", "Replied", "TurnEnded"]
    assert said(session) == ["hi", "Here."]
    assert world.requests[1].messages == world.requests[0].messages
    assert session.history.spent.replies == 2
    check_valid(session)


async def test_thoughts_alone_are_the_answer_the_second_time(world: World) -> None:
    session = world.begin([say("", reasoning="It is 4."), say("", reasoning="It is 4.")])
    await happens(session.run_turn("2 + 2?"))
    assert messages(session)[-1] == AssistantMessage("It is 4.")
    check_valid(session)


async def test_a_call_written_as_text_is_marked_and_needs_a_yes_even_in_yolo(world: World) -> None:
    quoted = Step(calls=(ToolCall("text_1", "shell", '{"command": "echo hi"}'),))
    session = world.begin([quoted, say("I see.")])
    session.mode = "yolo"
    world.person.interactive = False
    seen = await happens(session.run_turn("go"))
    assert [(event.call.written, event.result.denied) for event in seen if isinstance(event, ToolFinished)] == [
        (True, True)
    ]


async def test_two_empty_answers_end_the_turn_with_a_sentence(world: World) -> None:
    session = world.begin([call("glob", pattern="*"), say(""), say(""), say("Now.")])
    end = ended(await events(session.run_turn("hi")))
    assert (end.reason, str(end.error)) == ("failed", "scripted gave an empty answer.")
    assert end.error is not None
    assert end.error.exit_code == 75
    check_valid(session)
    assert ended(await events(session.run_turn("again"))).reason == "done"
    assert said(session)[-2:] == ["again", "Now."]


async def test_an_empty_answer_at_the_length_limit_is_not_asked_for_again(world: World) -> None:
    session = world.begin([say("", reasoning="on and on", cut=True)])
    end = ended(await events(session.run_turn("hi")))
    assert end.reason == "limit"
    assert said(session) == ["hi", "(interrupted)"]
    check_valid(session)


async def test_what_a_reply_cost_is_counted(world: World) -> None:
    def cost(usage: Usage) -> float:
        return usage.completion_tokens / 100

    session = world.begin(
        [with_usage(call("glob", pattern="*")), with_usage(say("Done."), Usage(200, 20, 100))], cost=cost
    )
    await events(session.run_turn("hi"))
    status = session.status()
    assert (status.prompt_tokens, status.completion_tokens, status.cached_tokens) == (300, 30, 150)
    assert status.cost_usd == pytest.approx(0.3)
    assert (status.estimated, status.turns) == (False, 1)


async def test_words_that_are_no_unicode_reach_model_and_disk_all_the_same(world: World) -> None:
    session = world.begin([say("Fine.")])
    await events(session.run_turn("a\ud800b"))
    assert said(session) == ["a\ufffdb", "Fine."]
    (request,) = world.requests
    assert json.loads(request.messages[-1])["content"] == "a\ufffdb"
    check_valid(session)
