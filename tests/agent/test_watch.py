"""What is read and run again after a compaction: counted over a resume, and the model reminded of recall once."""

from __future__ import annotations

import itertools

import pytest

from codeagent.agent.session import Session
from codeagent.core.messages import ToolMessage
from codeagent.llm.providers.scripted import Step, call, say, summary
from codeagent.memory.repeats import Tally
from tests.agent._world import World, check_valid, events
from tests.agent.conftest import Make
from tests.laws.requests import extends

NAMES = ("a.py", "b.py", "c.py", "d.py")


def reads() -> list[Step]:
    return [call("read_file", path=name) for name in NAMES]


async def forgetful(world: World, *more: Step, resumed: bool) -> Session:
    """A session that reads its files, is compacted, and reads them again."""
    for name in NAMES:
        world.file(name, f"# {name}\n" * 40)
    session = world.begin([*reads(), say("Read."), summary("Some files.")])
    await events(session.run_turn("read them"))
    await events(session.compact())
    again = [*reads(), call("glob", pattern="*"), say("Again."), *more]
    if resumed:
        session = await world.resume(session, again)
    else:
        world.play(*again)
    await events(session.run_turn("go on"))
    return session


@pytest.mark.parametrize("resumed", [False, True])
async def test_the_model_is_reminded_once_in_the_newest_message(world: World, resumed: bool) -> None:
    session = await forgetful(world, resumed=resumed)
    results = [entry.message for entry in session.history.entries if isinstance(entry.message, ToolMessage)]
    assert ["[Reminder" in result.text for result in results] == [False, False, True, False, False]
    repeats = await session.watch.repeats()
    assert (repeats.before, repeats.after) == (Tally(4, 0), Tally(4, 4))
    requests = world.requests[-6:]
    assert all(extends(later.messages, earlier.messages) for earlier, later in itertools.pairwise(requests))
    check_valid(session)


async def test_what_is_counted_is_counted_again_at_each_start(make: Make) -> None:
    world = make()
    session = await forgetful(world, resumed=False)
    session.clear()
    world.play(*reads(), say("Anew."))
    await events(session.run_turn("anew"))
    live = await session.watch.repeats()
    session = await world.resume(session)
    anew = await session.watch.repeats()
    assert (live.before, live.after) == (anew.before, anew.after) == (Tally(4, 0), Tally(8, 4))
