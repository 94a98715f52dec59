"""Caps on steps, tokens and money."""

from __future__ import annotations

import pytest

from codeagent.agent.limits import Limits
from codeagent.core.entries import Spent, Usage
from codeagent.core.errors import LimitReached
from codeagent.core.events import Notice, StepStarted
from codeagent.llm.providers.scripted import call, say
from tests.agent._world import ended, events, said, with_usage
from tests.agent.conftest import Make

WORK = call("glob", pattern="*")
NOTHING = Spent()


async def test_the_step_limit(make: Make) -> None:
    world = make(max_turns=2)
    session = world.begin([WORK, WORK, say("Done.")])
    seen = await events(session.run_turn("go"))
    end = ended(seen)
    assert (end.reason, end.steps, str(end.error)) == ("limit", 2, "Stopped after 2 model steps.")
    assert [event.step for event in seen if isinstance(event, StepStarted)] == [1, 2]
    assert said(session)[-1].startswith("[")
    assert ended(await events(session.run_turn("go on"))).reason == "done"


async def test_the_cap_on_money(make: Make) -> None:
    world = make(max_budget_usd=1.0)
    session = world.begin([with_usage(WORK)] * 3, cost=lambda usage: 0.4)
    seen = await events(session.run_turn("go"))
    end = ended(seen)
    assert (end.reason, end.steps) == ("limit", 3)
    assert str(end.error) == "Stopped: the cap of 1.0 US dollars is used up."
    assert [str(event) for event in seen if isinstance(event, Notice)] == ["0.8 of 1.0 US dollars are used."]
    assert end.error is not None
    assert end.error.exit_code == 53


def spent(tokens: int = 0, cost: float | None = 0.0) -> Spent:
    return Spent(1, tokens, 0, 0, cost)


@pytest.mark.parametrize(
    ("limits", "step", "now", "before", "told"),
    [
        (Limits(), 160, NOTHING, NOTHING, []),
        (Limits(), 161, NOTHING, NOTHING, ["160 of 200 model steps are used."]),
        (Limits(), 162, NOTHING, NOTHING, []),
        (Limits(max_steps=5), 5, NOTHING, NOTHING, []),
        (Limits(max_tokens=1000), 2, spent(799), NOTHING, []),
        (Limits(max_tokens=1000), 2, spent(800), spent(799), ["800 of 1,000 tokens are used."]),
        (Limits(max_tokens=1000), 3, spent(900), spent(800), []),
        (Limits(max_tokens=1000), 1, spent(900), NOTHING, ["900 of 1,000 tokens are used."]),
        (Limits(max_usd=2.0), 2, spent(5, 1.75), spent(1, 0.5), ["1.75 of 2.0 US dollars are used."]),
        (Limits(max_usd=2.0), 3, spent(5, None), spent(1, None), []),
    ],
)
def test_warnings_come_once(limits: Limits, step: int, now: Spent, before: Spent, told: list[str]) -> None:
    assert [str(notice) for notice in limits.check(step, now, before)] == told


def test_the_cap_on_time() -> None:
    limits = Limits(max_seconds=10.0)
    told = [
        limits.check(2, NOTHING, NOTHING, seconds=now, seconds_before=then) for then, now in ((0, 7), (7, 9), (9, 9.5))
    ]
    assert [[str(notice) for notice in notices] for notices in told] == [[], ["9 of 10.0 seconds are used."], []]
    with pytest.raises(LimitReached, match=r"the cap of 10\.0 seconds is used up"):
        limits.check(3, NOTHING, NOTHING, seconds=10.5, seconds_before=9.5)


def test_a_cap_on_money_that_cannot_be_kept_is_told() -> None:
    (notice,) = Limits(max_usd=2.0).check(2, spent(5, None), NOTHING)
    assert (notice.level, "2.0" in str(notice)) == ("warning", True)


@pytest.mark.parametrize(
    ("limits", "step", "now"),
    [
        (Limits(max_steps=3), 4, NOTHING),
        (Limits(max_tokens=1000), 1, spent(1000)),
        (Limits(max_usd=2.0), 1, spent(1, 2.0)),
    ],
)
def test_over_a_cap(limits: Limits, step: int, now: Spent) -> None:
    with pytest.raises(LimitReached):
        limits.check(step, now, now)


async def test_the_cap_on_tokens_counts_over_the_session(make: Make) -> None:
    world = make()
    world.limit(tokens=500)
    session = world.begin([with_usage(say("One."), Usage(300, 20)), with_usage(say("Two."), Usage(300, 20))])
    assert ended(await events(session.run_turn("one"))).reason == "done"
    assert ended(await events(session.run_turn("two"))).reason == "done"
    end = ended(await events(session.run_turn("three")))
    assert (end.reason, end.steps, str(end.error)) == ("limit", 0, "Stopped: the cap of 500 tokens is used up.")
