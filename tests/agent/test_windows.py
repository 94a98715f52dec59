"""Windows of every size, and whatever the summariser does: every request fits, nothing is compacted for nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from codeagent.agent.session import Session
from codeagent.core.entries import Compaction, Usage
from codeagent.core.errors import AuthError, ContextOverflow
from codeagent.core.events import Compacted, Compacting, Event, Notice, StepStarted
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import Endpoint, Reply, Request, StreamItem
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import Step, call, number_calls, say
from codeagent.windows import UNKNOWN_WINDOW
from tests.agent._survival import INSTRUCTION
from tests.agent._world import World, check_valid, ended, events
from tests.agent.conftest import Make
from tests.laws.requests import unpaired
from tests.llm.test_errors import OVERFLOWS
from tests.server.endpoint import Pause, Recorded, Response, ScriptedEndpoint, refusal

RULE = "Never touch vendor/. 不要改 vendor/。"
LINE = "a line of output with some words and numbers 12345\n"
SUMMARIES = {
    "good": Step("## Next step\nGo on."),
    "fails": Step(error="AuthError"),
    "empty": Step(""),
    "longer than what it stands for": Step("words of no use " * 5_000),
    "cut by its length": Step("It began", cut=True),
    "never comes": Step("Too late.", delay=60),
    "a tool call": Step(calls=(ToolCall("s1", "glob", '{"pattern":"*"}'),)),
}


@dataclass
class Model:
    """Makes so many calls, each for 2 kB; usage is reported as we estimate it, or never."""

    window: int
    steps: int
    summary: Step = field(default_factory=lambda: SUMMARIES["good"])
    reports: bool = True
    work: Callable[[int], Step] = lambda number: call("shell", command=f"cat big.txt # {number}")
    served: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        self.asked[request.purpose] += 1
        self.faults += unpaired(request.messages)
        size = sum(map(estimate_classes, (*request.messages, request.tools)))
        used = Usage(size, 10) if self.reports else None
        if request.purpose != "turn":
            await asyncio.sleep(self.summary.delay)
            yield self._summed(used)
            return
        if size > ContextBudget(self.window).hard_limit * 1.05:  # the system text is counted as it is escaped here
            self.faults.append(f"{size} tokens")
        self.served += 1
        if self.served > self.steps:
            yield Reply(AssistantMessage("Done."), used)
            return
        step = number_calls(self.work(self.served), self.served)
        yield Reply(AssistantMessage("", step.calls), used)

    def _summed(self, used: Usage | None) -> Reply:
        if self.summary.error:
            raise AuthError("No.")
        return Reply(AssistantMessage(self.summary.text, self.summary.calls), used, cut=self.summary.cut)

    async def aclose(self) -> None:
        return None


def session_of(world: World, model: Model) -> Session:
    world.file("big.txt", LINE * 40)
    return world.begin(provider=model, window=model.window)


async def work(session: Session, text: str = f"Work. {RULE}") -> list[Event]:
    seen = await events(session.run_turn(text))
    check_valid(session)
    return seen


def receipts(seen: list[Event]) -> list[Compaction]:
    return [event.receipt for event in seen if isinstance(event, Compacted)]


def gains(seen: list[Event]) -> bool:
    """Every compaction made the request smaller, and between two of them a model was asked."""
    steps = [isinstance(event, StepStarted) for event in seen if isinstance(event, Compacted | StepStarted)]
    return all(one.tokens_after < one.tokens_before for one in receipts(seen)) and all(
        one or other for one, other in pairwise(steps)
    )


@pytest.mark.parametrize("reports", [True, False], ids=["usage", "no usage"])
@pytest.mark.parametrize("window", [8_000, 16_000])
@pytest.mark.parametrize("kind", SUMMARIES)
async def test_a_long_turn_in_a_small_window(make: Make, kind: str, window: int, reports: bool) -> None:
    world = make(compaction__timeout=0.05)
    model = Model(window, 30, SUMMARIES[kind], reports)
    session = session_of(world, model)
    seen = await work(session)
    assert (ended(seen).reason, ended(seen).error) == ("done", None)
    assert (model.faults, gains(seen), len(receipts(seen)) >= 2) == ([], True, True)
    assert kind == "good" or 1 <= model.asked["summary"] <= 3 + model.steps // 10
    assert RULE in context(session)


def context(session: Session) -> str:
    return "\n".join(entry.message.text for entry in session.history.entries)


WORDY = Step("## Findings\n" + "shard 17 has a quota of 7221 in src/pool.py:33 since the retry loop\n" * 40)


@pytest.mark.parametrize("kind", [SUMMARIES["good"], WORDY], ids=["short summaries", "long summaries"])
@pytest.mark.parametrize(("window", "steps", "most"), [(4_000, 12, 7), (8_000, 24, 6), (16_000, 60, 10)])
async def test_several_steps_fit_between_two_compactions(
    make: Make, kind: Step, window: int, steps: int, most: int
) -> None:
    """Results of 3 to 6 kB; each compaction makes room for several, down to the smallest of windows."""
    world = make()
    for number in range(9):
        world.file(f"m{number}.txt", LINE * (60 + 7 * number))
    model = Model(window, steps, kind, work=lambda number: call("shell", command=f"cat m{number % 9}.txt # {number}"))
    seen = await work(session_of(world, model))
    assert (ended(seen).error, model.faults, gains(seen), model.served) == (None, [], True, steps + 1)
    assert 1 <= len(receipts(seen)) <= most
    assert RULE in context(world.sessions[-1])


@pytest.mark.parametrize("window", [8_000, 16_000])
async def test_a_message_larger_than_the_window_loses_its_middle_alone(make: Make, window: int) -> None:
    world, model = make(), Model(window, 3, Step(""))
    session = session_of(world, model)
    seen = await work(session, f"Read this. {RULE}\n{LINE * 2_000}\nThe limit must stay at 4.")
    assert (ended(seen).error, model.faults, gains(seen)) == (None, [], True)
    assert all(one in context(session) for one in (RULE, "The limit must stay at 4.", 'recall(id="m1")'))
    page = await session.agent.calls.context().past.read("m1", limit=10**6)
    assert LINE * 2_000 in page.text


async def test_a_result_larger_than_the_window_is_shortened_and_read_in_parts(make: Make) -> None:
    world, model = make(), Model(8_000, 3, work=lambda number: call("read_file", path="long.txt"))
    world.file("long.txt", "x = 1  # 注释\n" * 1_900)
    session = session_of(world, model)
    seen = await work(session)
    assert (ended(seen).error, model.faults, gains(seen)) == (None, [], True)
    assert RULE in context(session)


@pytest.mark.parametrize("kind", ["good", "fails"])
async def test_where_the_standing_part_alone_is_over_the_trigger_each_compaction_gains(make: Make, kind: str) -> None:
    world, model = make(), Model(16_000, 12, SUMMARIES[kind])
    world.options = replace(world.options, append_system_prompt=LINE * 620)
    session = session_of(world, model)
    seen = await work(session)
    fixed = session.meter.fixed(session.history.prompt)
    assert session.model.budget.trigger < fixed < session.model.budget.hard_limit
    assert (ended(seen).error, model.faults, gains(seen), model.served) == (None, [], True, 13)
    assert RULE in context(session)


async def test_what_is_too_large_for_good_is_told_in_each_turn_and_asks_nobody(make: Make) -> None:
    world, model = make(), Model(4_000, 3)
    world.options = replace(world.options, append_system_prompt=LINE * 300)
    session = session_of(world, model)
    for text in ("one", "two"):
        seen = await work(session, text)
        assert isinstance(ended(seen).error, ContextOverflow)
        assert sum(isinstance(event, Compacting) for event in seen) <= 1
    assert model.asked == {}


# ---- what endpoints say ----------------------------------------------------------------------------------------------


@dataclass
class Narrow:
    """A server whose window is smaller than anybody told us: it refuses in the words of `wording`."""

    wording: str
    limit: int
    """Bytes of a body."""
    answers: list[Step]
    refused: int = 0

    def answer(self, request: Recorded) -> Step | Response:
        if str(request.messages[-1]["content"]).startswith(INSTRUCTION):
            return say("## Next step\nGo on.")
        if len(request.body) > self.limit:
            self.refused += 1
            return refusal(400, self.wording)
        return self.answers.pop(0)


@pytest.mark.parametrize("wording", OVERFLOWS[::9])
async def test_a_refusal_in_any_words_forces_one_compaction_and_one_retry(make: Make, wording: str) -> None:
    world = make()
    narrow = Narrow(wording, 10**6, [say(LINE * 200), say(LINE * 200), say("Fits.")])
    async with ScriptedEndpoint(narrow.answer) as server:
        session = world.begin(provider=client(server), window=UNKNOWN_WINDOW)
        for text in ("one", "two"):
            await work(session, text)
        narrow.limit = len(server.requests[-1].body)
        seen = await work(session, "three")
    assert (ended(seen).error, narrow.refused, len(receipts(seen)), narrow.answers) == (None, 1, 1, [])
    assert session.history.entries[-1].message == AssistantMessage("Fits.")


async def test_a_window_that_nobody_knows_is_found_by_its_refusals(make: Make) -> None:
    world = make()
    reads = [call("shell", command=f"cat big.txt # {number}") for number in range(40)]
    narrow = Narrow(OVERFLOWS[0], 45_000, [*reads, say("Done.")])
    world.file("big.txt", LINE * 40)
    async with ScriptedEndpoint(narrow.answer) as server:
        session = world.begin(provider=client(server), window=UNKNOWN_WINDOW)
        seen = await work(session)
    assert (ended(seen).error, narrow.answers, gains(seen)) == (None, [], True)
    assert len(receipts(seen)) == narrow.refused >= 2
    assert RULE in context(session)


async def test_a_summary_that_never_comes_is_not_waited_for_for_ever(make: Make) -> None:
    world = make(compaction__timeout=0.3)
    narrow = Narrow("", 10**6, [say(LINE * 200), say("Fits.")])
    silent = Response((Pause(60),))

    def answer(request: Recorded) -> Step | Response:
        summary = str(request.messages[-1]["content"]).startswith(INSTRUCTION)
        return silent if summary else narrow.answer(request)

    async with ScriptedEndpoint(answer) as server:
        session = world.begin(provider=client(server), window=UNKNOWN_WINDOW)
        await work(session, "one")
        before = session.history.wire()
        seen = await events(session.compact())
        assert [type(event) for event in seen] == [Compacting, Notice]
        assert session.history.wire() == before
        assert ended(await work(session, "two")).error is None


def client(server: ScriptedEndpoint) -> OpenAIChat:
    return OpenAIChat(Endpoint(server.base_url, "k", "scripted"))
