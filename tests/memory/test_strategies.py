"""Strategies that need no model: what they leave out, and what they never part or drop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.entries import Compaction, Entry, Need
from codeagent.core.errors import ContextOverflow
from codeagent.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from codeagent.core.plugins import discover
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.history.folding import open_calls
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session, open_session
from codeagent.memory import strategies
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.importance import importance
from codeagent.memory.rungs.base import Strategy
from codeagent.memory.strategies._dropping import NOTE
from codeagent.memory.working import WorkingMemory, groups
from tests.memory._world import Summariser, Talk

KINDS: dict[str, Strategy] = {kind.name: kind for kind in discover(strategies, "STRATEGY").values()}
DROPPING = ["importance", "sliding_window"]
SMALL = ContextBudget(4_000)
"""trigger 2 500: room for messages 1 875."""


def compactor(name: str, budget: ContextBudget = SMALL) -> ConversationHistoryCompactor:
    return ConversationHistoryCompactor(
        Summariser(), estimate_classes, strategy=KINDS[name], budget=budget, new_id=lambda: "c-1"
    )


async def compact(name: str, talk: Talk, *, force: bool = False, fixed: int = 0) -> Compaction | None:
    return await compactor(name).compact(talk, Need(talk.tokens + fixed, force=force))


def left(talk: Talk, proposal: Compaction | None) -> list[str]:
    """What the messages that stay say."""
    gone = set(proposal.left) if proposal else set()
    return [entry.message.text for entry in talk.entries if entry.id not in gone]


def test_every_strategy_is_one_file() -> None:
    assert sorted(KINDS) == ["importance", "sliding_window", "summary"]


# ---- working memory ------------------------------------------------------------------------------------------------


def _group(tokens: int) -> tuple[Entry, ...]:
    return (Entry(f"m{tokens}", 1, UserMessage(""), b"", tokens, "user"),)


@pytest.mark.parametrize(
    ("budget", "sizes", "stay"),
    [
        (100, [60, 50, 40], [1, 2]),
        (100, [10, 60, 50, 40], [2, 3]),  # up to the first that does not fit, though an older one would
        (100, [1, 500], [1]),  # the newest whatever its size
        (0, [1, 1], [1]),
        (1_000, [1, 2, 3], [0, 1, 2]),
        (100, [], []),
    ],
)
def test_groups_are_taken_from_the_newest_to_the_first_that_does_not_fit(
    budget: int, sizes: list[int], stay: list[int]
) -> None:
    assert WorkingMemory(budget).select([_group(size) for size in sizes]) == stay


def test_what_stands_before_the_messages_and_the_output_is_taken_from_the_window() -> None:
    assert WorkingMemory(1_000, system=200, tools=100, reserve=250).budget == 450
    assert WorkingMemory(100, system=200).budget == 0


def test_the_classic_estimate_adds_four_tokens_a_message() -> None:
    memory = WorkingMemory(100, per_message=4)
    assert [memory.size(_group(10)), memory.select([_group(46), _group(46)])] == [14, [0, 1]]
    assert memory.select([_group(47), _group(46)]) == [1]


def test_a_call_and_its_results_are_one_group() -> None:
    talk = Talk().user("go").assistant("", ToolCall("a", "shell"), ToolCall("b", "shell")).tool("a", "1").tool("b", "2")
    talk.assistant("done")
    assert [[entry.id for entry in group] for group in groups(talk.entries)] == [["m1"], ["m2", "m3", "m4"], ["m5"]]


# ---- importance ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "index", "weight"),
    [
        (AssistantMessage("Let me look."), 0, 0.0),
        (AssistantMessage("Let me look."), 5, 0.2),
        (UserMessage("Look at it."), 0, 0.3),
        (ToolMessage("c", "shell", "fine"), 0, 0.25),
        (ToolMessage("c", "shell", "exit 1"), 0, 0.35),
        (UserMessage("我对花生过敏"), 0, 0.5),
        (UserMessage("You MUST use port 5433"), 10, 1.0),
        (UserMessage("It is a mustard nevertheless"), 0, 0.3),
        (UserMessage("ok"), 0, 0.2),
        (UserMessage("okay then"), 0, 0.3),
        (UserMessage("好的，继续"), 5, 0.4),
        (AssistantMessage("明白了"), 0, 0.0),
    ],
)
def test_importance_is_the_sum_of_its_signs(message: Message, index: int, weight: float) -> None:
    assert importance(message, index, 10) == pytest.approx(weight)


@given(st.text(), st.integers(0, 100), st.integers(0, 100))
def test_importance_lies_between_0_and_1(text: str, index: int, more: int) -> None:
    kinds: Sequence[Message] = (UserMessage(text), AssistantMessage(text), ToolMessage("c", "shell", text))
    assert all(0 <= importance(message, index, index + more) <= 1 for message in kinds)


# ---- what is left out ----------------------------------------------------------------------------------------------


async def test_the_window_slides_over_the_oldest() -> None:
    talk = Talk().turns(1, 12)
    proposal = await compact("sliding_window", talk)
    assert proposal is not None
    kept = [entry for entry in talk.entries if entry.id not in proposal.left]
    assert [entry.id for entry in kept] == [entry.id for entry in talk.entries[-len(kept) :]]
    assert isinstance(kept[0].message, UserMessage)
    assert sum(entry.tokens for entry in kept) <= 1_875
    request = talk.entries[-4]
    assert [(item.id, item.message) for item in proposal.messages] == [
        (request.id, UserMessage(NOTE + request.message.text))
    ]


async def test_importance_leaves_out_small_talk_before_rules() -> None:
    talk = Talk().user("我对花生过敏，必须记住 1 点").assistant("收到")
    for _ in range(8):
        talk.user("好的").assistant("谢谢 " + "Let me go on with this for a while then. " * 60)
    talk.user("What may I eat?").assistant("Rice.")
    texts = left(talk, await compact("importance", talk))
    assert "我对花生过敏，必须记住 1 点" in texts
    assert "What may I eat?" in texts
    assert sum(text.startswith("谢谢") for text in texts) < 8


async def test_importance_leaves_a_reply_between_two_messages_of_the_user() -> None:
    talk = Talk()
    for number in range(12):
        call = ToolCall(f"c{number}", "shell")
        talk.user(f"You must remember rule {number}: always use port 543{number}.").assistant("", call)
        talk.tool(call.id, "fine " * 200).assistant(f"Noted as number {number}.")
    proposal = await compact("importance", talk)
    assert proposal is not None
    kept = [entry for entry in talk.entries if entry.id not in proposal.left]
    users = [isinstance(entry.message, UserMessage) for entry in kept]
    assert sum(users) > 6
    assert not any(one and other for one, other in pairwise(users))
    assert sum(entry.tokens for entry in kept) <= 1_875


@pytest.mark.parametrize("name", DROPPING)
async def test_the_request_of_a_long_run_stays_and_with_it_what_was_added(name: str) -> None:
    talk = Talk().user("Do the task; never touch the tests.")
    for number in range(40):
        talk.assistant("", ToolCall(f"c{number}", "shell")).tool(f"c{number}", "some output " * 40)
        if number == 3:
            talk.user("And be quick.", origin="steer")
    texts = left(talk, await compact(name, talk))
    assert texts[0] == "Do the task; never touch the tests."
    assert "And be quick." in texts
    assert len(texts) < 40


@pytest.mark.parametrize("name", DROPPING)
async def test_where_all_fits_nothing_is_left_out_but_half_when_asked(name: str) -> None:
    talk = Talk().turns(1, 4)
    assert await compact(name, talk) is None
    forced = await compact(name, talk, force=True)
    assert forced is not None
    assert forced.tokens_after <= forced.tokens_before * 0.75


@pytest.mark.parametrize("name", DROPPING)
async def test_one_request_alone_cannot_be_made_smaller(name: str) -> None:
    assert await compact(name, Talk().user("x " * 1_000), force=True) is None
    assert await compact(name, Talk(), force=True) is None


@pytest.mark.parametrize("name", KINDS)
async def test_nothing_stays_over_the_hard_limit(name: str) -> None:
    """What always stays is too large alone: a pasted request, the results of the newest group. No model is asked."""
    paste = Talk().turns(1, 2).user("Never touch vendor/.\n" + "2026 a log line\n" * 4_000 + "Why?")
    calls = [ToolCall(f"c{number}", "shell") for number in range(3)]
    results = Talk().user("Never touch vendor/. Why?").assistant("", *calls)
    for one in calls:
        results.tool(one.id, "a line of output\n" * 900)
    for talk in (paste, results):
        assert talk.tokens > SMALL.hard_limit
        proposal = await compactor(name).compact(talk, Need(talk.tokens, ask=False))
        assert proposal is not None and proposal.tokens_after < SMALL.hard_limit
        kept = "\n".join(item.message.text for item in proposal.messages)
        assert all(part in kept for part in ("Never touch vendor/.", "Why?", "recall(id="))


@pytest.mark.parametrize("name", KINDS)
async def test_what_cannot_be_sent_is_told(name: str) -> None:
    with pytest.raises(ContextOverflow):
        await compactor(name).compact(Talk().user("hi"), Need(4_000, ask=False))


Turn = st.tuples(st.text(max_size=40), st.lists(st.integers(0, 3), max_size=5), st.booleans())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(DROPPING),
    turns=st.lists(Turn, min_size=1, max_size=8),
    window=st.integers(400, 6_000),
    rounds=st.integers(1, 3),
)
async def test_pairs_stay_whole_and_every_fold_makes_the_history_smaller(
    tmp_path: Path, name: str, turns: list[tuple[str, list[int], bool]], window: int, rounds: int
) -> None:
    """Over a real history on disk: folded, it equals what a later start reads, and no call lost its result."""
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
    history = new_session(path, SessionInfo(path.stem, "p-0", "/", "m", "1"))
    made_for = ContextBudget(window)
    made = compactor(name, made_for)
    for _ in range(rounds):
        for text, calls, answered in turns:
            _say(history, text, calls, answered)
        before = history.tokens
        request = history.entries[-1].message if not turns[-1][1] else None
        try:
            proposal = await made.compact(history, Need(history.tokens + 50))
        except ContextOverflow:
            assert history.tokens + 50 > made_for.hard_limit
            continue
        if proposal is None:
            assert history.tokens + 50 <= made_for.hard_limit
            continue
        history.fold(proposal)
        assert history.tokens + 50 <= made_for.hard_limit
        assert history.tokens < before
        assert open_calls(history.entries) == []
        assert isinstance(history.entries[0].message, UserMessage)
        if proposal.rung:
            continue
        assert request is None or history.entries[-1].message.text.removeprefix(NOTE) == request.text
        assert sum(NOTE in entry.message.text for entry in history.entries) >= 1
    await history.sync()
    history.close()
    again = await open_session(path)
    assert (list(again.entries), again.notices) == (list(history.entries), ())
    again.close()


def _say(history: History, text: str, calls: Sequence[int], answered: bool) -> None:
    history.append(UserMessage(text), origin="user", said=text, new_turn=True)
    for number, results in enumerate(calls):
        asked = tuple(ToolCall(f"{history.turn}-{number}-{at}", "shell") for at in range(results))
        history.append(AssistantMessage("looking " * 9, asked), origin="model")
        for call in asked:
            history.append(ToolMessage(call.id, "shell", "output 5 " * 60), origin="tool")
    if answered:
        history.append(AssistantMessage("ok"), origin="model")
