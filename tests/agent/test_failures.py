"""What goes wrong ends the turn with a sentence, never with a traceback, and the next turn works."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codeagent.core.errors import AuthError, ContextOverflow, IncompleteReply, StoreError
from codeagent.core.events import (
    Compacted,
    Compacting,
    Notice,
    Replied,
    Retrying,
    StepStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from codeagent.llm.providers.scripted import call, calls, fail, say, summary
from tests.agent._world import World, check_valid, ended, events, happens, messages, said


@pytest.mark.parametrize("name", ["AuthError", "NetworkError", "Overloaded", "ModelNotFound", "IncompleteReply"])
async def test_a_model_that_fails(world: World, name: str) -> None:
    session = world.begin([fail(name), say("Back.")])
    end = ended(await events(session.run_turn("hi")))
    assert (end.reason, type(end.error).__name__, end.steps) == ("failed", name, 1)
    assert said(session) == ["hi", "(interrupted)"]
    check_valid(session)
    assert ended(await events(session.run_turn("again"))) == TurnEnded("done", 1, 0.0)
    assert said(session)[2:] == ["again", "Back."]


async def test_a_model_that_fails_in_the_middle_keeps_what_it_said(world: World) -> None:
    session = world.begin([say("So far so", error="NetworkError"), say("Good.")])
    end = ended(await events(session.run_turn("hi")))
    assert (end.reason, said(session)) == ("failed", ["hi", "So far so\n\n(interrupted)"])
    check_valid(session)
    assert ended(await events(session.run_turn("again"))).reason == "done"


async def test_a_model_that_fails_after_a_tool(world: World) -> None:
    session = world.begin([call("shell", command="echo x"), fail("AuthError"), say("Back.")])
    end = ended(await events(session.run_turn("hi")))
    assert (end.reason, isinstance(end.error, AuthError), end.steps) == ("failed", True, 2)
    assert ended(await events(session.run_turn("again"))).reason == "done"
    assert said(session) == ["hi", "shell", "[x\n[exit 0]]", "again", "Back."]
    check_valid(session)


async def test_what_passes_is_tried_again(world: World) -> None:
    session = world.begin([say("Hal", error="Overloaded"), say("Whole.")], retries=1)
    seen = await happens(session.run_turn("hi"))
    assert [type(event) for event in seen] == [TurnStarted, StepStarted, Retrying, Replied, TurnEnded]
    assert said(session) == ["hi", "Whole."]


# ---- the window ------------------------------------------------------------------------------------------------------


async def test_a_request_that_is_too_long_is_compacted_once_and_tried_again(world: World) -> None:
    session = world.begin([say("Long. " * 300), fail("ContextOverflow"), summary("Short."), say("Fits.")])
    await events(session.run_turn("one"))
    seen = await happens(session.run_turn("two"))
    kinds = [TurnStarted, StepStarted, Compacting, Compacted, StepStarted, Replied, TurnEnded]
    assert [type(event) for event in seen] == kinds
    assert ended(seen).reason == "done"
    assert said(session)[0].endswith("\nShort.")
    assert said(session)[-2:] == ["two", "Fits."]
    check_valid(session)


async def test_a_request_that_is_too_long_twice_ends_the_turn(world: World) -> None:
    overflow = fail("ContextOverflow")
    session = world.begin([say("Long. " * 300), overflow, summary("Short."), overflow, say("Now.")])
    await events(session.run_turn("one"))
    end = ended(await events(session.run_turn("two")))
    assert (end.reason, isinstance(end.error, ContextOverflow)) == ("failed", True)
    assert said(session)[-2:] == ["two", "(interrupted)"]
    check_valid(session)
    assert ended(await events(session.run_turn("three"))).reason == "done"


async def test_a_request_that_is_too_long_with_nothing_to_compact(world: World) -> None:
    session = world.begin([say("It begins", error="ContextOverflow")])
    seen = await happens(session.run_turn("one"))
    assert [type(event) for event in seen] == [TurnStarted, StepStarted, Compacting, TurnEnded]
    assert (ended(seen).reason, said(session)) == ("failed", ["one", "(interrupted)"])
    assert isinstance(ended(seen).error, ContextOverflow)
    check_valid(session)


# ---- the disk --------------------------------------------------------------------------------------------------------


@contextmanager
def full_disk(path: Path, room: int = 0) -> Iterator[None]:
    """No file of this process may grow beyond what `path` has now, and `room` bytes more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_disk_that_is_full_when_the_turn_begins(world: World) -> None:
    session = world.begin([say("One."), say("Three.")])
    await events(session.run_turn("one"))
    with full_disk(session.history.path):
        seen = await events(session.run_turn("two"))
    assert [type(event) for event in seen] == [TurnEnded]
    assert (ended(seen).reason, isinstance(ended(seen).error, StoreError)) == ("failed", True)
    check_valid(session)
    assert ended(await events(session.run_turn("three"))).reason == "done"
    assert said(session) == ["one", "One.", "three", "Three."]
    check_valid(session)


@pytest.mark.parametrize("room", range(200, 1400, 60))
async def test_a_disk_that_fills_up_anywhere_in_a_turn(world: World, room: int) -> None:
    """Wherever it happens: one sentence, no call twice, and with room again the conversation goes on."""
    turn = [
        calls(say("I look."), call("glob", pattern="*"), call("shell", command="echo x >> count")),
        say("Two. " * 9),
    ]
    session = world.begin([say("One."), *turn])
    count = world.top / "count"
    await events(session.run_turn("one"))
    with full_disk(session.history.path, room):
        end = ended(await events(session.run_turn("two")))
    assert (end.reason, isinstance(end.error, StoreError)) == ("failed", True)
    world.play(say("Three."))
    assert ended(await events(session.run_turn("three"))).reason == "done"
    check_valid(session)
    assert said(session)[-2:] == ["three", "Three."]
    assert not count.exists() or count.read_text() == "x\n"


async def test_a_disk_that_is_full_when_a_turn_is_interrupted(world: World) -> None:
    session = world.begin([call("shell", command="sleep 300"), say("Next.")])
    turn = session.run_turn("one")
    async for event in turn:
        if isinstance(event, ToolStarted):
            with full_disk(session.history.path):
                session.interrupt()
                end = ended([event async for event in turn])
    assert (end.reason, isinstance(end.error, StoreError)) == ("failed", True)
    assert ended(await events(session.run_turn("two"))).reason == "done"
    assert said(session) == ["one", "shell", "[(interrupted)]", "two", "Next."]
    check_valid(session)


async def test_a_disk_that_is_full_at_a_compaction_by_hand(world: World) -> None:
    session = world.begin([say("Long. " * 300), say("More."), summary("Short.")])
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    before = messages(session)
    with full_disk(session.history.path):
        *_, last = await events(session.compact())
    assert isinstance(last, Notice)
    assert "cannot be written" in str(last)
    assert messages(session) == before
    check_valid(session)


async def test_a_session_that_cannot_be_made(world: World) -> None:
    session = world.begin([say("Hi.")])
    folder = session.history.path.parent
    folder.parent.mkdir(parents=True)
    folder.write_text("in the way")
    end = ended(await events(session.run_turn("one")))
    assert (end.reason, isinstance(end.error, StoreError)) == ("failed", True)
    folder.unlink()
    assert ended(await events(session.run_turn("two"))).reason == "done"
    assert said(session) == ["two", "Hi."]
    check_valid(session)


async def test_a_tool_that_breaks_is_a_failed_result(world: World) -> None:
    session = world.begin([call("read_file", path="a\0b"), call("read_file", path="x" * 5000), say("I see.")])
    seen = await events(session.run_turn("go"))
    assert [event.result.failed for event in seen if isinstance(event, ToolFinished)] == [True, True]
    assert ended(seen).reason == "done"
    check_valid(session)


async def test_a_provider_that_ends_without_an_answer(world: World) -> None:
    class Silent:
        async def warm(self) -> None: ...

        async def stream(self, request: object):  # type: ignore[no-untyped-def]
            return
            yield

        async def aclose(self) -> None: ...

    session = world.begin(provider=Silent())
    end = ended(await events(session.run_turn("hi")))
    assert (end.reason, isinstance(end.error, IncompleteReply)) == ("failed", True)
    check_valid(session)
