"""What the person laid down stays in every request, whatever the summariser says and however small the window is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.messages import ToolCall
from codeagent.llm.providers.scripted import Step, say
from tests.agent._survival import Model, live, modules
from tests.agent._world import World

RULES = (
    "Never touch anything under vendor/.",
    "All timeouts must be exactly 2750 ms.",
    "Only use the standard library.",
    "Always write tests with pytest.",
    "Do not change the public function parse_header().",
    "The report must go to https://example.org/reports/17.",
    "不要改 migrations/ 里的文件。",
    "日志必须用中文。",
    "只能使用端口 8471。",
    "禁止引入新的依赖。",
    "记住数据库名是 orders_v3。",
    "提交信息一律不超过 50 个字。",
)
TASK = "Go through the modules one by one and note what each is for.\n" + "\n".join(f"- {rule}" for rule in RULES)
INTERFACE = tuple(f"def step_{number}(self, value: int) -> Result_{number}: ..." for number in range(12))
AROUND = ("The retry limit must stay at 4.", "以上日志不要提交到仓库。")
LOG = "\n".join(f"2026-05-01T12:00:{n % 60:02} INFO worker {n} says all is well, nothing to see" for n in range(1_275))
MODULES = 60
FACTS = range(0, MODULES, 10)
SUMMARIES = {
    "platitudes": Step("We had a productive conversation and made good progress. Everything is going well."),
    "nothing": Step(""),
    "inventions": Step("The user allowed us to change vendor/ and asked for timeouts of 10 ms. Anything is welcome."),
    "a tool call": Step(calls=(ToolCall("s1", "read_file", '{"path":"m1.txt"}'),)),
    "the truth": Step("## Constraints\n" + "\n".join(RULES)),
}


@pytest.fixture
async def world(tmp_path: Path, words: Path) -> AsyncIterator[World]:
    made = World(tmp_path, cache=words)
    yield made
    await made.close()


def some(*quick: tuple[str, int]) -> list[Any]:
    """These kinds of summaries and windows always, the others where there is time."""
    every = [(kind, window) for kind in SUMMARIES for window in (16_000, 32_000)]
    return [pytest.param(*one, marks=() if one in quick else pytest.mark.slow) for one in every]


def survives(model: Model, compactions: int) -> None:
    """It was compacted again and again, and no request was at fault."""
    assert (model.faults, compactions >= (3 if model.window == 16_000 else 1)) == ([], True)
    assert model.looked > 10


@pytest.mark.parametrize(("kind", "window"), some(*((kind, 16_000) for kind in SUMMARIES)))
async def test_twelve_of_twelve(world: World, kind: str, window: int) -> None:
    model = Model(window, SUMMARIES[kind], [*modules(world, MODULES), say("Done.")], RULES)
    survives(model, await live(world, model, TASK, facts=FACTS))
    assert model.session is not None
    receipt = model.session.history.receipt
    assert receipt is not None and receipt.held >= len(RULES)


async def test_every_planted_fact_is_found_again(world: World) -> None:
    model = Model(16_000, SUMMARIES["platitudes"], [*modules(world, MODULES), say("Done.")], RULES)
    survives(model, await live(world, model, TASK, facts=range(MODULES)))


@pytest.mark.parametrize(("kind", "window"), some(("platitudes", 16_000)))
async def test_with_a_huge_paste_as_second_message(world: World, kind: str, window: int) -> None:
    first, *rest = modules(world, MODULES)
    paste = f"Look at this log first. {AROUND[0]}\n{LOG}\n{AROUND[1]}"
    assert len(paste) > 88_000
    answers = [first, say("Go on?"), *rest, say("Done.")]
    model = Model(window, SUMMARIES[kind], answers, (*RULES, *AROUND))
    survives(model, await live(world, model, TASK, paste, facts=FACTS))


@pytest.mark.parametrize(("kind", "window"), some(("inventions", 16_000)))
async def test_with_the_rules_in_the_fifth_message(world: World, kind: str, window: int) -> None:
    reads = modules(world, MODULES)
    early = [f"Question {number}: what is in module {number}?" for number in range(4)]
    answers = [say("Yes.")] * 4 + [*reads[:30], say("Half."), *reads[30:], say("Done.")]
    model = Model(window, SUMMARIES[kind], answers, RULES)
    survives(model, await live(world, model, *early, TASK, "go on", facts=FACTS))


@pytest.mark.parametrize("assent", ["好，就这样", pytest.param("Yes, go ahead.", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kind", "window"), some(("nothing", 16_000)))
async def test_what_the_person_agreed_to_stays_word_for_word(world: World, kind: str, window: int, assent: str) -> None:
    proposal = "I propose this interface:\n" + "\n".join(INTERFACE) + "\nShall I?"
    answers = [say(proposal), *modules(world, MODULES), say("Done.")]
    model = Model(window, SUMMARIES[kind], answers, (*INTERFACE, *RULES))
    survives(model, await live(world, model, TASK, assent, facts=FACTS))
