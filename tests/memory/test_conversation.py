"""From the history into short-term memory, and the compression behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.entries import Entry
from codeagent.core.errors import RateLimited
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.core.ports import Summarize
from codeagent.core.tokens import ContextBudget
from codeagent.memory.compressor import ContextCompressor
from codeagent.memory.conversation import ConversationKeeper
from codeagent.memory.short_term import ConversationMemory, MemoryEntry
from tests.memory._world import Clock, Talk

NOON = "2026-05-01T12:00:00Z"


@dataclass
class Model:
    """Answers once it may; by default with a short summary."""

    answer: str | Exception = "short"
    may: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list)

    async def __call__(self, messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        self.asked.append(json.loads(messages[0])["content"])
        await self.may.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Session:
    """A talk that is told to a keeper as it grows; one character is one token."""

    model: Model = field(default_factory=Model)
    budget: int = 1_000
    retry_after: int = 10
    talk: Talk = field(default_factory=Talk)
    memory: ConversationMemory = field(init=False)
    keeper: ConversationKeeper = field(init=False)

    def __post_init__(self) -> None:
        self.memory = ConversationMemory(self.budget)
        self.keeper = keeper_of(self.memory, self.model, self.talk, self.budget * 8 // 10, self.retry_after)

    def say(self, text: str) -> Entry:
        self.talk.user(text)
        self.keeper.appended(self.talk.entries[-1])
        return self.talk.entries[-1]

    def say_all(self, texts: Sequence[str]) -> None:
        for text in texts:
            self.say(text)

    @property
    def contents(self) -> list[str]:
        return [entry.content for entry in self.memory]


def keeper_of(
    memory: ConversationMemory, model: Summarize, talk: Talk, threshold: int, retry_after: int
) -> ConversationKeeper:
    ids = count(1)
    return ConversationKeeper(
        memory,
        ContextCompressor(model, len, window=100_000),
        talk,
        len,
        Clock(),
        threshold=threshold,
        retry_after=retry_after,
        new_id=lambda: f"s{next(ids)}",
    )


def texts(first: int, last: int, size: int = 100) -> list[str]:
    return [f"{number:03} ".ljust(size, "x") for number in range(first, last + 1)]


async def settle(session: Session, *, answered: bool = True) -> None:
    if answered:
        session.model.may.set()
    await session.keeper.settled()


# ---- what is kept --------------------------------------------------------------------------------------------------


async def test_what_is_said_becomes_an_entry_each() -> None:
    session = Session()
    talk = session.talk
    talk.entries.append(Entry("m1", 1, UserMessage("[facts]\n\nhello"), b"", 9, "user", said="hello"))
    talk.entries.append(Entry("m2", 1, AssistantMessage("I look.", (ToolCall("c1", "glob", "{}"),)), b"", 9, "model"))
    talk.entries.append(Entry("m3", 1, ToolMessage("c1", "glob", "y" * 9_000), b"", 9, "tool"))
    talk.entries.append(Entry("m4", 1, UserMessage("A summary."), b"", 9, "summary"))
    talk.entries.append(Entry("m5", 1, AssistantMessage(""), b"", 9, "model"))
    for entry in talk.entries:
        session.keeper.appended(entry)
    assert list(session.memory) == [
        MemoryEntry("m1", "user", "hello", 5, NOON),
        MemoryEntry("m2", "assistant", "I look.\nglob {}", 15, NOON),
        MemoryEntry("m3", "tool", "y" * 500, 500, NOON),
    ]


async def test_a_conversation_that_goes_on_is_taken_up_at_unknown_times() -> None:
    session = Session(budget=25)
    session.talk.user("x" * 10).assistant("y" * 10).user("z" * 10)
    session.keeper.fill()
    assert [(entry.id, entry.at) for entry in session.memory] == [("m1", ""), ("m2", ""), ("m3", "")]
    assert session.memory.tokens == 20


async def test_only_what_left_the_history_is_outside_of_it() -> None:
    session = Session()
    session.say_all(["one", "two"])
    session.talk.tool("c1", "whole output")
    session.keeper.appended(session.talk.entries[-1])
    assert session.keeper.outside() == []
    session.talk.entries[2] = Entry("m3", 1, ToolMessage("c1", "shell", "(masked)"), b"", 1, "tool")
    del session.talk.entries[0]
    assert [entry.content for entry in session.keeper.outside()] == ["one", "whole output"]


async def test_what_is_taken_back_is_forgotten_and_clear_forgets_everything() -> None:
    session = Session(budget=25)
    session.say_all(["x" * 10, "y" * 10, "z" * 10])
    session.keeper.taken_back({"m1", "m3"})
    assert session.contents == ["y" * 10]
    session.keeper.cleared()
    assert len(session.memory) == 0


# ---- when it is compressed -----------------------------------------------------------------------------------------


async def test_at_the_threshold_all_but_the_last_three_become_one_summary() -> None:
    session = Session()
    session.say_all(texts(1, 7))
    assert len(session.model.asked) == 0
    session.say_all(texts(8, 8))
    await settle(session)
    assert session.contents == ["short", *texts(6, 8)]
    assert session.memory.get("s1") == MemoryEntry("s1", "summary", "short", 5, NOON)
    assert (len(session.memory.compressed_summaries), session.memory.tokens) == (0, 305)


async def test_what_waits_goes_first_into_the_summary() -> None:
    session = Session()
    session.say_all(texts(1, 30))
    assert len(session.memory.compressed_summaries) == 20
    await settle(session)
    assert (session.contents, session.memory.tokens) == (["short", *texts(28, 30)], 305)
    assert session.model.asked[0].startswith(f"[user] {texts(1, 1)[0]}\n\n[user] {texts(2, 2)[0]}")


async def test_one_at_a_time_and_what_comes_meanwhile_stays() -> None:
    session = Session()
    session.say_all(texts(1, 9))
    await asyncio.sleep(0)
    session.say_all(texts(10, 12))
    await settle(session)
    assert session.contents == ["short", *texts(7, 12)]


@pytest.mark.parametrize("answer", [RateLimited("slow down"), "", "no shorter " * 100])
async def test_a_failure_keeps_everything(answer: str | Exception) -> None:
    session = Session(Model(answer))
    session.say_all(texts(1, 12))
    before = list(session.memory)
    await settle(session)
    assert list(session.memory) == before


async def test_after_three_failures_attempts_become_rare() -> None:
    session = Session(Model(RateLimited("slow down")), retry_after=4)
    session.model.may.set()
    session.say_all(texts(1, 7))
    attempts = []
    for text in texts(8, 20):
        session.say(text)
        await session.keeper.settled()
        attempts.append(len(session.model.asked))
    rises = [later > earlier for earlier, later in zip([0, *attempts], attempts, strict=False)]
    assert rises == [True, True, True, False, False, False, True, False, False, False, True, False, False]


async def test_newest_entries_that_are_too_large_alone_do_not_cost_a_request_each() -> None:
    session = Session()
    session.model.may.set()
    for text in texts(1, 6, size=330):
        session.say(text)
        await session.keeper.settled()
    assert len(session.model.asked) == 0
    for text in texts(7, 8, size=330):
        session.say(text)
        await session.keeper.settled()
    assert len(session.model.asked) == 1


async def test_clear_ends_what_is_being_compressed() -> None:
    session = Session()
    session.say_all(texts(1, 9))
    await asyncio.sleep(0)
    session.keeper.cleared()
    session.say("afterwards")
    await settle(session)
    await asyncio.sleep(0)
    assert session.contents == ["afterwards"]


async def test_what_is_taken_back_while_it_is_compressed_is_in_no_summary() -> None:
    session = Session()
    session.say_all(texts(1, 10))
    while not session.model.asked:
        await asyncio.sleep(0)
    session.keeper.taken_back({"m2"})
    asked = len(session.model.asked)
    session.say("afterwards")
    await settle(session)
    assert session.contents == ["short", *texts(9, 10), "afterwards"]
    assert not any("002 " in text for text in session.model.asked[asked:])


async def test_closing_leaves_nothing_running_and_nothing_lost() -> None:
    session = Session()
    session.say_all(texts(1, 9))
    await asyncio.sleep(0)
    await session.keeper.aclose()
    assert (session.contents, asyncio.all_tasks()) == (texts(1, 9), {asyncio.current_task()})


# ---- laws ----------------------------------------------------------------------------------------------------------


@given(st.integers(1_000, 10_000_000), st.floats(0.01, 1))
def test_the_threshold_is_a_share_of_the_budget_never_below_half(window: int, ratio: float) -> None:
    budget = ContextBudget(window)
    assert budget.compress_at(ratio) == int(budget.short_term * max(ratio, 0.5))
    assert budget.short_term // 2 <= budget.compress_at(ratio) <= budget.short_term


def test_the_published_thresholds() -> None:
    found = [ContextBudget(128_000).compress_at(ratio) for ratio in (0.8, 0.5, 0.3, 1.0)]
    assert (found, ContextBudget(128_000).compress_at()) == ([46_080, 28_800, 28_800, 57_600], 46_080)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 400)),
        st.tuples(st.just("answer"), st.sampled_from(["ok", "", "fail"])),
        st.tuples(st.just("evict"), st.just(0)),
        st.tuples(st.just("back"), st.integers(0, 50)),
    ),
    max_size=60,
)


@given(EVENTS)
def test_nothing_is_lost_and_order_is_kept_in_any_course_of_events(steps: list[tuple[str, int | str]]) -> None:
    """Summaries here name what they stand for: all that was said is there, once, in order, whatever fails when."""

    async def course() -> None:
        gate, outcome = asyncio.Event(), "ok"

        async def name_all(messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
            await gate.wait()
            if outcome == "fail":
                raise RateLimited("slow down")
            return "" if outcome == "" else names(messages[0].decode())

        memory, talk, said = ConversationMemory(1_000), Talk(), list[str]()
        keeper = keeper_of(memory, name_all, talk, 800, retry_after=2)
        for step, value in steps:
            match step:
                case "say":
                    said.append(f"m{len(talk.entries) + 1}")
                    talk.user(f"#{len(talk.entries) + 1}# ".ljust(int(value), "x"))
                    keeper.appended(talk.entries[-1])
                case "answer":
                    outcome = str(value)
                    gate.set()
                    await keeper.settled()
                    gate.clear()
                case "evict":
                    memory.evict_oldest()
                case "back" if said and memory.get(said[-1]):
                    keeper.taken_back({said.pop()})
            await asyncio.sleep(0)
            assert told(memory) == said
            assert memory.tokens <= 1_000
        await keeper.aclose()
        assert told(memory) == said

    asyncio.run(course())


def names(text: str) -> str:
    """The numbers in a text, as a summary: "#1#3#"."""
    return "#" + "#".join(part for part in text.split("#") if part.isdigit()) + "#"


def told(memory: ConversationMemory) -> list[str]:
    return [f"m{part}" for entry in memory for part in entry.content.split("#") if part.isdigit()]
