"""The conversation is lost in the middle of a task, and the task goes on as if it were not."""

from __future__ import annotations

import json

import pytest

from codeagent.agent.session import Session
from codeagent.core.ports import Request
from tests.agent._amnesia import CONSTRAINT, DECISION, FILES, GO_ON, PLATITUDES, RIGHT, TASK, Forgetful, written
from tests.agent._world import World, check_valid, events
from tests.agent.conftest import Make


def system(request: Request) -> str:
    text: str = json.loads(request.messages[0])["content"]
    return text


def files(world: World) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(world.top.glob("*.py"))}


async def half_way(world: World, model: Forgetful) -> Session:
    """Two files of five are written, and the model waits."""
    world.file(".code-agent-cli/memory/tattoo.md", f"{CONSTRAINT}\n")
    session = world.begin(provider=model)
    await events(session.run_turn(TASK))
    assert files(world) == dict.fromkeys(FILES[:2], RIGHT)
    return session


async def lose(session: Session, how: str) -> None:
    if how == "everything":
        session.clear()
    else:
        await events(session.compact())


@pytest.mark.parametrize(
    ("how", "mode"), [("everything", "ladder"), ("to platitudes", "classic"), ("to platitudes", "ladder")]
)
async def test_the_right_files_are_finished_and_no_other(make: Make, how: str, mode: str) -> None:
    world, model = make(compaction__mode=mode, compaction__keep_turns=1), Forgetful()
    session = await half_way(world, model)
    await events(session.run_turn("wait"))
    before = len(model.requests)
    await lose(session, how)
    await events(session.run_turn(GO_ON))
    first = model.requests[before]
    block = system(first).split("=== AGENT MEMORY END ===")[0]
    told = ("AGENT MEMORY BEGIN", CONSTRAINT, "Write the five files.", "### In progress\n- c.py", DECISION)
    assert [text for text in told if text not in block] == []
    assert TASK not in "".join(map(str, map(json.loads, first.messages))) or mode == "ladder"
    assert files(world) == dict.fromkeys(FILES, RIGHT)
    assert written(model.requests) == list(FILES)
    check_valid(session)


async def test_a_model_that_keeps_no_board_is_lost(world: World) -> None:
    """The double acts on nothing but its request: what brings it back is task memory alone."""
    model = Forgetful(keeps_board=False)
    session = await half_way(world, model)
    await lose(session, "everything")
    await events(session.run_turn(GO_ON))
    assert (files(world), CONSTRAINT in system(model.requests[-1])) == (dict.fromkeys(FILES[:2], RIGHT), True)


async def test_a_summary_of_platitudes_was_really_all_there_was(make: Make) -> None:
    world, model = make(compaction__mode="classic", compaction__keep_turns=1), Forgetful()
    session = await half_way(world, model)
    await events(session.run_turn("wait"))
    await lose(session, "to platitudes")
    wire = b"".join(session.history.wire()).decode()
    assert (PLATITUDES in wire, TASK in wire) == (True, False)
