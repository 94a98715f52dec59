"""A compaction taken back gives the exact messages, also after a resume; the pinned block is told by its digest."""

from __future__ import annotations

import pytest

from codeagent.agent.session import Session
from codeagent.core.entries import Compaction, Entry
from codeagent.core.events import Compacted
from codeagent.llm.providers.scripted import Step, call, calls, say, summary
from tests.agent._world import World, check_valid, ended, events
from tests.agent.conftest import Make

TATTOO = ".code-agent-cli/memory/tattoo.md"
WINDOW = 16_000


def work(count: int) -> list[Step]:
    """Batches of parallel calls, one of them a failure, in English and Chinese."""
    read, missing = call("read_file", path="说明.txt"), call("read_file", path="缺.txt")
    return [step for _ in range(count) for step in (calls(say("我看看。"), read, missing, read), say("看完了。" * 30))]


async def turns(session: Session, count: int) -> list[Compaction]:
    """So many turns, and the compactions in them."""
    seen = [
        event for number in range(count) for event in await events(session.run_turn(f"turn {number}, 第{number}轮"))
    ]
    assert ended(seen).reason == "done"
    check_valid(session)
    return [event.receipt for event in seen if isinstance(event, Compacted)]


async def compacted(session: Session) -> tuple[list[Entry], Compaction]:
    """The messages before a compaction by hand, and its receipt."""
    before = list(session.history.entries)
    (receipt,) = [event.receipt for event in await events(session.compact()) if isinstance(event, Compacted)]
    assert session.history.entries != before
    return before, receipt


@pytest.mark.parametrize("resumed", [False, True], ids=["at once", "after a resume"])
async def test_the_exact_messages_return(make: Make, resumed: bool) -> None:
    world = make(compaction__keep_turns=1)
    world.file("说明.txt", "不要改 vendor/。\n" * 60)
    session = world.begin([*work(4), summary("我们做了很多。")], window=WINDOW)
    await turns(session, 4)
    before, _ = await compacted(session)
    if resumed:
        session = await world.resume(session, [say("Later.")], window=WINDOW)
    else:
        world.play(say("Later."))
    await turns(session, 1)
    after = session.history.entries[-2:]
    await session.undo_compaction()
    assert session.history.entries == [*before, *after]
    assert session.history.wire()[1:] == [entry.wire for entry in (*before, *after)]
    check_valid(session)
    session = await world.resume(session, [say("Still.")], window=WINDOW)
    assert session.history.entries == [*before, *after]
    await turns(session, 1)
    assert list(world.requests[-1].messages[1:-1]) == [entry.wire for entry in (*before, *after)]


async def test_two_compactions_are_taken_back_one_after_the_other(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    world.file("说明.txt", "不要改 vendor/。\n" * 60)
    script = [*work(3), summary("One."), *work(3), summary("Two.")]
    session = world.begin(script, window=WINDOW)
    await turns(session, 3)
    first, _ = await compacted(session)
    folded = len(session.history.entries)
    await turns(session, 3)
    second, _ = await compacted(session)
    session = await world.resume(session, window=WINDOW)
    await session.undo_compaction()
    assert session.history.entries == second
    session = await world.resume(session, window=WINDOW)
    await session.undo_compaction()
    assert session.history.entries == [*first, *second[folded:]]
    check_valid(session)


async def test_the_pinned_block_is_the_same_before_and_after_unless_its_files_changed(make: Make) -> None:
    world: World = make(compaction__keep_turns=1)
    world.file("说明.txt", "不要改 vendor/。\n" * 60)
    world.file(TATTOO, "never touch vendor/\n不要改 vendor/\n")
    session = world.begin([*work(3), summary("One."), *work(3), summary("Two.")], window=WINDOW)
    await turns(session, 3)
    digest = session.history.prompt.digest
    block = session.memory.task.block
    _, same = await compacted(session)
    assert (
        (same.digest, session.history.prompt.digest, session.memory.task.block) == (digest, digest, block) != ("",) * 3
    )
    world.file(TATTOO, "never touch vendor/ or docs/\n")
    await turns(session, 3)
    _, other = await compacted(session)
    assert other.digest == session.history.prompt.digest != digest
    assert "never touch vendor/ or docs/" in session.history.prompt.system
