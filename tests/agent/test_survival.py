"""What the person laid down stays in every request, whatever the summariser says and however small the window is."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codeagent.agent.session import Session
from codeagent.core.events import Compacted
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.llm.providers.scripted import Step, call, number_calls, say
from tests.agent._world import World, check_valid, ended, events
from tests.agent.conftest import Make
from tests.laws.requests import unpaired

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
INTERFACE = "\n".join(f"def step_{number}(self, value: int) -> Result_{number}: ..." for number in range(12))
PASTE = "\n".join(
    f"2026-05-01T12:00:{n % 60:02} INFO worker {n} says all is well, nothing to see" for n in range(1_200)
)
PLATITUDE = "We had a productive conversation and made good progress. Everything is going well."
INVENTION = "The user allowed us to change vendor/ and asked for timeouts of 10 ms. All dependencies are welcome."
SUMMARIES: dict[str, Callable[[], AssistantMessage]] = {
    "platitudes": lambda: AssistantMessage(PLATITUDE),
    "nothing": lambda: AssistantMessage(""),
    "inventions": lambda: AssistantMessage(INVENTION),
    "a tool call": lambda: AssistantMessage("", (ToolCall("s1", "read_file", '{"path":"m1.txt"}'),)),
    "the truth": lambda: AssistantMessage("## Constraints\n" + "\n".join(RULES)),
}


@dataclass
class Model:
    """Reads one module after the other, and summarises as it does; every request is kept and looked at."""

    window: int
    summary: Callable[[], AssistantMessage]
    answers: list[Step] = field(default_factory=list)
    held: Callable[[str], list[str]] = lambda text: []
    session: Session | None = None
    lost: list[list[str]] = field(default_factory=list)
    """Of each request after a compaction, what is not in it."""
    served: int = 0

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        assert unpaired(request.messages) == []
        size = sum(map(estimate_classes, request.messages)) + estimate_classes(request.tools)
        assert size <= self.window
        if request.purpose != "turn":
            yield Reply(self.summary())
            return
        self.look(request)
        step = number_calls(self.answers.pop(0), self.served + 1)
        self.served += len(step.calls)
        yield Reply(AssistantMessage(step.text, step.calls))

    def look(self, request: Request) -> None:
        assert self.session is not None
        system = json.loads(request.messages[0])["content"].encode()
        size = sum(map(estimate_classes, (system, *request.messages[1:], request.tools)))
        assert size <= ContextBudget(self.window).hard_limit
        if self.session.history.receipt is not None:
            text = "\n".join(str(json.loads(message)["content"]) for message in request.messages)
            self.lost.append(self.held(text))

    async def aclose(self) -> None:
        return None


def without(*wanted: str) -> Callable[[str], list[str]]:
    return lambda text: [one for one in wanted if one not in text]


def modules(world: World, count: int = 60) -> list[Step]:
    """Files of 3 to 6 kB with a fact in each, and the calls that read them."""
    for number in range(count):
        line = f"module {number} line with some code = value_{number} * 3  # and a comment\n"
        world.file(
            f"m{number}.txt",
            f"FACT{number}: the key of module {number} is K{number * 7919}\n" + line * (45 + number % 45),
        )
    return [call("read_file", path=f"m{number}.txt") for number in range(count)]


async def live(world: World, model: Model, *turns: str) -> tuple[Session, int]:
    """The session after these turns and one more after a resume, and how often it compacted."""
    connection: dict[str, Any] = {"provider": model, "window": model.window}
    model.session = session = world.begin(**connection)
    compactions = 0
    for text in turns:
        seen = await events(session.run_turn(text))
        assert ended(seen).reason == "done", ended(seen)
        compactions += sum(isinstance(event, Compacted) for event in seen)
        check_valid(session)
    model.session = session = await world.resume(session, **connection)
    model.answers.append(say("Still here."))
    await events(session.run_turn("Where are we? 到哪了？"))
    check_valid(session)
    return session, compactions


@pytest.fixture(autouse=True)
def one_dictionary(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One cache for all of them: building the dictionary of words takes seconds."""
    cache = tmp_path_factory.getbasetemp() / "words"
    cache.mkdir(exist_ok=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "cache").symlink_to(cache)


def some(*kinds: str) -> list[Any]:
    """These kinds of summaries always, the others where there is time."""
    return [pytest.param(kind, marks=() if kind in kinds else pytest.mark.slow) for kind in SUMMARIES]


@pytest.mark.parametrize("window", [16_000, pytest.param(32_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", SUMMARIES)
async def test_twelve_of_twelve(make: Make, kind: str, window: int) -> None:
    world = make()
    model = Model(window, SUMMARIES[kind], [*modules(world), say("Done.")], without(*RULES))
    session, compactions = await live(world, model, TASK)
    assert compactions >= 3
    assert [lost for lost in model.lost if lost] == []
    assert len(model.lost) > 20
    receipt = session.history.receipt
    assert receipt is not None and (receipt.held >= 12 or receipt.rung == 1)


@pytest.mark.parametrize("kind", some("nothing", "platitudes"))
async def test_with_a_huge_paste_as_second_message(make: Make, kind: str) -> None:
    world = make()
    first, *rest = modules(world)
    paste = f"Look at this log first. The retry limit must stay at 4.\n{PASTE}\n以上日志不要提交到仓库。"
    assert len(paste) > 80_000
    held = without(*RULES, "The retry limit must stay at 4.", "以上日志不要提交到仓库。")
    model = Model(16_000, SUMMARIES[kind], [first, say("Go on?"), *rest, say("Done.")], held)
    _, compactions = await live(world, model, TASK, paste)
    assert compactions >= 3
    assert [lost for lost in model.lost if lost] == []


@pytest.mark.parametrize("kind", some("inventions"))
async def test_with_the_rules_in_the_fifth_message(make: Make, kind: str) -> None:
    world = make()
    calls = modules(world)
    answers = [say("Yes.")] * 4 + [*calls[:30], say("Half."), *calls[30:], say("Done.")]
    model = Model(16_000, SUMMARIES[kind], answers, without(*RULES))
    early = [f"Question {number}: what is in module {number}?" for number in range(4)]
    _, compactions = await live(world, model, *early, TASK, "go on")
    assert compactions >= 3
    assert [lost for lost in model.lost if lost] == []


@pytest.mark.parametrize("assent", ["好，就这样", pytest.param("Yes, go ahead.", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", some("nothing", "inventions"))
async def test_what_the_person_agreed_to_stays_word_for_word(make: Make, kind: str, assent: str) -> None:
    world = make()
    answers = [say(f"I propose this interface:\n{INTERFACE}\nShall I?"), *modules(world), say("Done.")]
    model = Model(16_000, SUMMARIES[kind], answers, without(*INTERFACE.split("\n"), *RULES))
    _, compactions = await live(world, model, TASK, assent)
    assert compactions >= 3
    assert [lost for lost in model.lost if lost] == []


async def test_what_left_is_named_by_ids_that_are_in_the_file(make: Make, tmp_path: Path) -> None:
    world = make()
    model = Model(16_000, SUMMARIES["nothing"], [*modules(world, 30), say("Done.")])
    session, _ = await live(world, model, TASK)
    text = session.history.path.read_text(encoding="utf-8")
    assert [f"K{number * 7919}" in text for number in range(30)] == [True] * 30
