from __future__ import annotations

from dataclasses import replace

from codeagent.core.ports import LONGEST_FACT
from codeagent.core.tools import ToolResult
from codeagent.core.ui import Answer
from tests.tools.world import World

FACT = "测试用 pytest 跑"
DENIED = {"failed": True, "denied": True, "summary": "denied"}


async def test_what_the_person_asked_for_is_saved_without_asking_again(world: World) -> None:
    world.ctx = replace(world.ctx, said="remember: pytest")
    result = await world.run("save_memory", content=f" {FACT} ", scope="global", type="rule", key="tests")
    assert result == ToolResult(f"Saved: {FACT}  [f1]", summary="saved, f1")
    assert world.facts.saved == [
        {"content": FACT, "scope": "global", "type": "rule", "key": "tests", "by": "tool", "quote": "remember: pytest"}
    ]
    assert world.person.asked == []


async def test_else_the_person_is_asked(world: World) -> None:
    world.person.answers = [Answer("yes"), Answer("no", "that was one case"), Answer("")]
    assert await world.run("save_memory", content=FACT) == ToolResult(f"Saved: {FACT}  [f1]", summary="saved, f1")
    assert (world.person.asked[0].title, world.person.asked[0].preview) == ("Remember this in this project?", FACT)
    assert await world.run("save_memory", content=FACT) == ToolResult(
        "The user does not want this remembered: that was one case", **DENIED
    )
    assert await world.run("save_memory", content=FACT) == ToolResult(
        "The user does not want this remembered.", **DENIED
    )
    assert len(world.facts.saved) == 1


async def test_without_a_terminal_it_is_refused(world: World) -> None:
    world.person.interactive = False
    assert await world.run("save_memory", content=FACT) == ToolResult(
        "The user did not ask to remember this, and nobody is there to confirm it. It was not saved.", **DENIED
    )
    assert (world.facts.saved, world.person.asked) == ([], [])


async def test_an_empty_fact_is_none(world: World) -> None:
    assert (await world.run("save_memory", content=" ")).summary == "empty"
    assert (await world.run("save_memory", content="x" * (LONGEST_FACT + 1))).summary == "bad arguments"
