"""The loop guard in a whole session."""

from __future__ import annotations

import json

import pytest

from codeagent.agent.repeats import LoopGuard
from codeagent.core.messages import ToolCall
from codeagent.core.tools import ToolResult
from codeagent.core.ui import Answer
from codeagent.history.history import History
from codeagent.llm.providers.scripted import Step, call, say
from tests.agent._world import World, check_valid, ended, events, said

A = call("grep", pattern="nowhere")
B = call("glob", pattern="*.nothing")
POLL = call("shell_job", action="list")


async def remarks(world: World, *script: Step) -> list[bool]:
    """Which results of a turn carry the remark."""
    session = world.begin([*script, say("Done.")])
    assert ended(await events(session.run_turn("go"))).reason == "done"
    check_valid(session)
    return ["with the same result" in text for text in said(session) if text.startswith("[")]


@pytest.mark.parametrize(
    ("script", "places"),
    [
        ([A, A], []),
        ([A, A, A], [2]),
        ([A, A, B, A], []),
        ([A, B, A, B], []),
        ([A, B, A, B, A], [4]),
        ([A, B, B, A, B], []),
        ([A, POLL, A, POLL, A, POLL], []),
        ([POLL] * 6, []),
        ([A] * 6, [2, 5]),
    ],
)
async def test_without_a_terminal_it_only_remarks(world: World, script: list[Step], places: list[int]) -> None:
    world.person.interactive = False
    assert [place for place, remark in enumerate(await remarks(world, *script)) if remark] == places
    assert world.person.asked == []


async def test_a_result_that_differs_is_no_loop(world: World) -> None:
    count = call("shell", command="echo >> n; wc -l < n")
    assert await remarks(world, count, count, count, count) == [False] * 4


async def test_a_new_turn_begins_anew(world: World) -> None:
    session = world.begin([A, A, say("One."), A, A, say("Two.")])
    for text in ("one", "two"):
        await events(session.run_turn(text))
    assert not [text for text in said(session) if "with the same result" in text]


async def test_after_the_remark_the_person_is_asked_and_lets_it_go_on(world: World) -> None:
    world.person.answers = [Answer("go")]
    assert await remarks(world, A, A, A, A, A, A) == [False, False, True, False, False, False]
    (question,) = world.person.asked
    title = world.sessions[0].title(ToolCall("", "grep", '{"pattern": "nowhere"}'))
    assert question.title == f"The model repeats itself: {title}"
    assert [choice.key for choice in question.choices] == ["go", "stop", "tell"]


async def test_the_person_says_what_to_do_instead(world: World) -> None:
    world.person.answers = [Answer("tell", "读 README")]
    session = world.begin([A, A, A, A, say("Yes.")])
    await events(session.run_turn("go"))
    assert '"读 README"' in said(session)[-2]
    check_valid(session)


@pytest.mark.parametrize("answer", [Answer("stop"), Answer("")])
async def test_the_person_stops_the_turn(world: World, answer: Answer) -> None:
    world.person.answers = [answer]
    session = world.begin([A, A, A, A])
    assert ended(await events(session.run_turn("go"))).reason == "interrupted"
    check_valid(session)


async def test_calls_of_the_reply_that_earned_the_remark_are_not_held_against_the_model(world: World) -> None:
    five = Step(calls=tuple(ToolCall("", "grep", json.dumps({"pattern": "nowhere"})) for _ in range(5)))
    assert (await remarks(world, five)).count(True) == 1
    assert world.person.asked == []


async def test_how_long_it_took_and_the_order_of_arguments_make_no_difference(world: World, empty: History) -> None:
    world.person.interactive = False
    guard = LoopGuard(world.person, empty, lambda call: call.name, lambda: None)
    said = []
    for arguments, took in (('{"a": 1, "b": 2}', "0.12s"), ('{"b":2,"a":1}', "3 s"), ('{"b": 2, "a": 1}', "41 ms")):
        said += await guard.after(ToolCall("c", "shell", arguments), ToolResult(f"3 failed in {took}"))
    assert len(said) == 1


@pytest.fixture
def empty(world: World) -> History:
    return world.begin().history
