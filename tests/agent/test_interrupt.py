"""A turn stopped anywhere: it says so, leaves a history that is valid, and no process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from codeagent.core.errors import RateLimited
from codeagent.core.events import (
    Compacting,
    Event,
    Notice,
    Replied,
    Retrying,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.ports import Request, StreamItem
from codeagent.core.ui import Answer
from codeagent.llm.providers.scripted import Step, call, calls, fail, say, summary
from tests.agent._world import World, check_valid, ended, events, messages, said, until
from tests.agent.conftest import Make


class Hanging:
    """A model that says these pieces and then nothing more."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = pieces
        self.closed = 0

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        try:
            for piece in self.pieces:
                yield TextDelta(piece)
            await asyncio.Event().wait()
        finally:
            self.closed += 1

    async def aclose(self) -> None:
        return None


async def test_in_the_middle_of_an_answer(world: World) -> None:
    model = Hanging("Half an ", "answer")
    session = world.begin(provider=model)
    seen = await until(session.run_turn("hi"), TextDelta, session.interrupt)
    assert ended(seen) == TurnEnded("interrupted", 1, 0.0)
    assert said(session) == ["hi", "Half an answer\n\n(interrupted)"]
    assert (model.closed, session.running) == (1, False)
    check_valid(session)
    session = await world.resume(session, [say("Whole.")])
    assert ended(await events(session.run_turn("again"))).reason == "done"


async def test_before_a_word_of_the_answer(world: World) -> None:
    session = world.begin(provider=Hanging())
    seen = await until(session.run_turn("hi"), StepStarted, session.interrupt)
    assert (ended(seen).reason, said(session)) == ("interrupted", ["hi", "(interrupted)"])
    check_valid(session)


async def test_before_the_turn_has_begun(world: World) -> None:
    """The interruption comes in the very moment in which the turn is handed over."""
    session = world.begin(provider=Hanging())
    turn = session.run_turn("hi")
    first = asyncio.ensure_future(anext(turn))
    asyncio.get_running_loop().call_soon(session.interrupt)
    assert await first == TurnStarted(1, "hi")
    assert ended([event async for event in turn]).reason == "interrupted"
    check_valid(session)


def starts_a_family(pids: Path) -> str:
    """A command whose children and grandchildren write their ids, one of them in a process group of its own."""
    grandchild = f"sh -c 'echo $$ >> {pids}; exec sleep 300'"
    return (
        f"echo begun; echo $$ >> {pids}; (echo $BASHPID >> {pids}; {grandchild} & sleep 300) & "
        f"set -m; {grandchild} & wait"
    )


def alive(pids: Path) -> list[int]:
    found = [int(line) for line in pids.read_text().split()]
    return [pid for pid in found if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


async def until_written(pids: Path, count: int) -> None:
    while not pids.exists() or len(pids.read_text().split()) < count:
        await asyncio.sleep(0.01)


async def test_in_the_middle_of_a_command_nothing_of_it_lives_on(world: World, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    session = world.begin([call("shell", command=starts_a_family(pids))])

    async def stop() -> None:
        await until_written(pids, 4)
        session.interrupt()

    stopping = asyncio.ensure_future(stop())
    seen = await events(session.run_turn("run it"))
    await stopping
    finished = [event.result.summary for event in seen if isinstance(event, ToolFinished)]
    assert (ended(seen).reason, finished) == ("interrupted", ["interrupted"])
    assert said(session) == ["run it", "shell", "[begun\n(interrupted)]"]
    while alive(pids):  # the signal has been sent; dying takes a moment
        await asyncio.sleep(0.01)
    check_valid(session)


async def test_results_that_were_there_are_kept(world: World) -> None:
    world.file("a.txt", "a")
    steps = (
        call("read_file", path="a.txt"),
        call("shell", command="echo begun; sleep 300"),
        call("read_file", path="a.txt"),
    )
    session = world.begin([calls(*steps)])
    seen = await until(session.run_turn("go"), ToolProgress, session.interrupt)
    assert ended(seen).reason == "interrupted"
    assert said(session) == ["go", "read_file+shell+read_file", "[1\ta]", "[begun\n(interrupted)]", "[(interrupted)]"]
    check_valid(session)


async def test_at_a_question(make: Make) -> None:
    world = make(permission_mode="default")
    session = world.begin([call("write_file", path="a.txt", content="x"), call("shell", command="touch b"), say("No.")])
    stopping = asyncio.ensure_future(_when(lambda: bool(world.person.asked), session.interrupt))
    seen = await events(session.run_turn("write"))
    await stopping
    assert (ended(seen).reason, (world.top / "a.txt").exists()) == ("interrupted", False)
    check_valid(session)
    # The next question is asked and answered as if nothing had been.
    world.person.answers = [Answer("no", "never")]
    assert ended(await events(session.run_turn("again"))).reason == "done"
    assert said(session)[-1] == "No."
    assert len(world.person.asked) == 2


async def _when(true: Any, act: Any) -> None:
    while not true():
        await asyncio.sleep(0.005)
    act()


async def test_while_it_waits_to_try_again(world: World) -> None:
    session = world.begin([fail("Overloaded")], retries=3)
    seen = await until(session.run_turn("hi"), Retrying, session.interrupt)
    assert (ended(seen).reason, said(session)) == ("interrupted", ["hi", "(interrupted)"])
    check_valid(session)


class AskingMuch:
    """A model that wants to be asked again in a minute."""

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        yield TextDelta("void")
        raise RateLimited("Too many requests.", retry_after=60.0)

    async def aclose(self) -> None:
        return None


async def test_what_came_before_a_retry_is_void(world: World) -> None:
    session = world.begin(provider=AskingMuch(), retries=3)
    await until(session.run_turn("hi"), Retrying, session.interrupt)
    assert said(session) == ["hi", "(interrupted)"]


SLOW_SUMMARY = Step(text="Summary.", purpose="summary", delay=60.0)


async def _with_turns(world: World, last: list[Step]) -> Any:
    session = world.begin([say("A long answer. " * 50), say("Another one."), *last])
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    return session


async def test_during_a_compaction_by_hand(world: World) -> None:
    session = await _with_turns(world, [SLOW_SUMMARY])
    before = messages(session)
    seen = await until(
        session.compact(), Compacting, lambda: asyncio.get_running_loop().call_later(0.05, session.interrupt)
    )
    assert seen[1:] == [Notice("Compaction was interrupted, nothing was changed.")]
    assert messages(session) == before
    check_valid(session)


async def test_during_a_compaction_in_a_turn(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = world.begin([say("A long answer. " * 900), SLOW_SUMMARY], window=5_600)
    await events(session.run_turn("one"))
    seen = await until(
        session.run_turn("two"), Compacting, lambda: asyncio.get_running_loop().call_later(0.05, session.interrupt)
    )
    assert [type(event) for event in seen] == [TurnStarted, Compacting, TurnEnded]
    assert said(session)[1:] == ["A long answer. " * 900, "two", "(interrupted)"]
    check_valid(session)


STUBBORN = "trap '' TERM; echo begun; while true; do sleep 0.1; done"
"""A command that takes its time to die."""


async def test_twice_in_a_row_is_once(world: World, tmp_path: Path) -> None:
    """The second one does not cut the clean-up of the first."""
    pids = tmp_path / "pids"
    session = world.begin([call("shell", command=f"echo $$ > {pids}; {STUBBORN}"), say("Fine.")])

    def again_and_again() -> None:
        session.interrupt()
        session.interrupt()
        for seconds in (0.0, 0.02, 0.1):
            asyncio.get_running_loop().call_later(seconds, session.interrupt)

    seen = await until(session.run_turn("go"), ToolProgress, again_and_again)
    assert (ended(seen).reason, alive(pids)) == ("interrupted", [])
    check_valid(session)
    assert ended(await events(session.run_turn("and now?"))).reason == "done"


async def test_after_the_last_event_it_changes_nothing(world: World) -> None:
    session = world.begin([say("One."), say("Two.")])
    seen = await until(session.run_turn("hi"), TurnEnded, session.interrupt)
    session.interrupt()
    assert ended(seen).reason == "done"
    assert ended(await events(session.run_turn("more"))).reason == "done"
    assert said(session) == ["hi", "One.", "more", "Two."]


async def test_at_the_answer_itself_the_turn_is_done(world: World) -> None:
    """The reply is on disk when it is told; what is left is to have the disk keep it, and that is not cut."""
    session = world.begin([say("One."), say("Two.")])
    seen = await until(session.run_turn("hi"), Replied, session.interrupt)
    assert ended(seen).reason == "done"
    assert ended(await events(session.run_turn("more"))).reason == "done"
    assert said(session) == ["hi", "One.", "more", "Two."]


async def test_a_consumer_that_goes_away_stops_the_turn(world: World, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    session = world.begin([call("shell", command=f"echo $$ > {pids}; echo begun; sleep 300"), say("Next.")])
    async with aclosing(cast(Any, session.run_turn("go"))) as turn:
        async for event in turn:
            if isinstance(event, ToolProgress):
                break
    assert (session.running, alive(pids)) == (False, [])
    assert said(session) == ["go", "shell", "[begun\n(interrupted)]"]
    check_valid(session)
    assert ended(await events(session.run_turn("next"))).reason == "done"


async def test_a_consumer_that_forgets_its_turn_does_not_disturb_the_next(world: World, tmp_path: Path) -> None:
    """The next turn begins when the forgotten one is over, its command included."""
    pids = tmp_path / "pids"
    slow = call("shell", command=f"echo $$ > {pids}; {STUBBORN}")
    session = world.begin([slow, say("Two."), call("shell", command="sleep 300")])
    forgotten = session.run_turn("one")
    async for event in forgotten:
        if isinstance(event, ToolProgress):
            break
    left: list[int] = []
    seen = await until(session.run_turn("two"), TurnStarted, lambda: left.extend(alive(pids)))
    assert (ended(seen).reason, left) == ("done", [])
    assert said(session) == ["one", "shell", "[begun\n(interrupted)]", "two", "Two."]
    await cast(Any, forgotten).aclose()
    seen = await until(session.run_turn("three"), ToolStarted, session.interrupt)
    assert ended(seen).reason == "interrupted"
    check_valid(session)


async def test_a_consumer_that_is_cancelled_stops_the_turn(world: World) -> None:
    session = world.begin(provider=Hanging("Half"))
    seen: list[Event] = []

    async def consume() -> None:
        async for event in session.run_turn("hi"):
            seen.append(event)  # noqa: PERF401

    task = asyncio.create_task(consume())
    await _when(lambda: any(isinstance(event, TextDelta) for event in seen), task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (session.running, said(session)) == (False, ["hi", "Half\n\n(interrupted)"])
    check_valid(session)


async def test_summaries_after_an_interruption(world: World) -> None:
    """An interrupted conversation compacts like any other."""
    session = world.begin([calls(say("One. " * 200), call("shell", command="sleep 300")), say("Two."), summary(".")])
    await until(session.run_turn("one"), ToolStarted, session.interrupt)
    await events(session.run_turn("two"))
    await events(session.compact())
    assert [text.endswith("\n.") for text in said(session)[:1]] == [True]
    check_valid(session)
