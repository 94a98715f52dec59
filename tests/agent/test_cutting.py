"""A server that cuts the prompt to its window without a word (Ollama) is noticed by what it counts."""

from __future__ import annotations

import pytest

from codeagent.core.entries import Usage
from codeagent.core.events import Notice
from codeagent.llm.providers.scripted import Step, say
from tests.agent._world import World, events

LONG = "What was said is long enough to be counted. " * 60


def counted(tokens: int, cached: int = 0) -> Step:
    return say("Yes.", usage=Usage(tokens, 3, cached))


@pytest.mark.parametrize(
    ("replies", "warned"),
    [
        ([counted(4096)] * 5, [3]),
        ([counted(4096), counted(4800), counted(5500), counted(6200)], []),
        ([counted(4096), counted(4096), counted(4800), counted(4800), counted(5500)], []),
        ([counted(4096, 4096)] * 4, []),
    ],
)
async def test_counts_that_do_not_grow_are_told_once(world: World, replies: list[Step], warned: list[int]) -> None:
    session = world.begin(replies)
    told = []
    for turn in range(1, len(replies) + 1):
        seen = await events(session.run_turn(LONG))
        told += [turn for event in seen if isinstance(event, Notice) and event.arguments.get("counted") == 4096]
    assert told == warned
