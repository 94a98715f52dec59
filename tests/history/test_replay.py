"""What replay tells of a file: folds, undo, rewind, counters; and that memory says the same."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from codeagent.core.entries import Compaction, Prompt, Replacement, Spent, Usage
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import ToolMessage, UserMessage
from codeagent.history.history import History
from codeagent.history.reading import read_lines, read_state
from codeagent.history.replay import Anchor, Replay, State, replay
from codeagent.history.sessions import open_session
from tests.history.support import (
    INFO,
    NOON,
    PROMPT,
    answer,
    ask,
    begin,
    masks,
    reply,
    say,
    session_path,
    summary,
    texts,
)


def talk(history: History, turns: int) -> None:
    """`turns` turns of: a question, a call, its result, an answer."""
    for turn in range(history.turn + 1, history.turn + 1 + turns):
        say(history, f"question {turn}")
        ask(history, f"call {turn}")
        answer(history, f"call {turn}", f"result {turn}")
        reply(history, f"answer {turn}")


async def same_after_reopening(history: History) -> History:
    """Close and open: nothing may differ."""
    history.close()
    again = await open_session(history.path)
    assert (again.entries, again.prompt, again.turn, again.name) == (
        history.entries,
        history.prompt,
        history.turn,
        history.name,
    )
    assert (again.anchor, again.spent, again.receipt) == (history.anchor, history.spent, history.receipt)
    assert (again.wire(), again.tokens) == (history.wire(), history.tokens)
    assert again.notices == ()
    return again


def test_replay_is_pure_and_gives_the_whole_state(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "hello")
    reply(history, "hi")
    history.report(Usage(50, 5), "m2", estimated=48, cost_usd=0.25)
    history.rename("greeting")
    with history.path.open("rb") as file:
        lines = list(read_lines(file))
    state = State(
        session=history.session,
        name="greeting",
        prompt=PROMPT,
        entries=tuple(history.entries),
        turn=1,
        anchor=Anchor(Usage(50, 5), 1),
        spent=Spent(1, 50, 5, 0, 0.25),
        messages=2,
        seq=6,
        renamed_at=lines[-1][0],
    )
    assert replay(lines, dict(lines).__getitem__) == Replay(state)
    assert history.session == dataclasses.replace(INFO, created=NOON)


async def test_a_summary_stands_where_its_first_message_stood(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 3)
    receipt = history.fold(summary(history.entries[:8], "summary of 1 and 2"))
    assert texts(history.entries) == [
        "summary of 1 and 2", "Understood.", "question 3", "call 3", "result 3", "answer 3",
    ]  # fmt: skip
    assert [(entry.id, entry.turn, entry.origin) for entry in history.entries[:3]] == [
        ("m13", 1, "summary"),
        ("m14", 1, "summary"),
        ("m9", 3, "user"),
    ]
    assert (receipt.id, [item.id for item in receipt.messages], history.receipt) == ("c1", ["m13", "m14"], receipt)
    say(await same_after_reopening(history), "on")


async def test_a_masked_message_keeps_its_id_its_turn_and_its_place(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 2)
    before = list(history.entries)
    history.fold(masks([before[2]]))
    assert texts(history.entries) == [
        "question 1", "call 1", "(masked)", "answer 1", "question 2", "call 2", "result 2", "answer 2",
    ]  # fmt: skip
    assert [(entry.id, entry.turn, entry.origin) for entry in history.entries] == [
        (entry.id, entry.turn, entry.origin) for entry in before
    ]
    await same_after_reopening(history)


async def test_what_a_person_typed_stays_with_a_shortened_message(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "look at this log: ...")
    stub = Replacement(UserMessage("look at this log: (archived)"), ("m1",), "m1")
    history.fold(Compaction("", 1, "", (stub,), 9, 3))
    again = await same_after_reopening(history)
    assert [(entry.said, entry.message) for entry in again.entries] == [
        ("look at this log: ...", UserMessage("look at this log: (archived)"))
    ]


async def test_an_undone_compaction_has_not_been(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 3)
    whole = list(history.entries)
    first = history.fold(summary(whole[:4], "one"))
    talk(history, 1)
    later = list(history.entries[-4:])
    second = history.fold(summary(history.entries[:6], "two"))
    with pytest.raises(CodeAgentError):
        await history.undo(first.id)
    assert not history.resting
    await history.undo(second.id)
    assert (texts(history.entries)[:3], history.receipt) == (["one", "Understood.", "question 2"], first)
    history = await same_after_reopening(history)
    assert history.resting
    await history.undo(first.id)
    assert (history.entries, history.receipt) == (whole + later, None)
    with pytest.raises(CodeAgentError) as refused:
        await history.undo(first.id)
    assert str(refused.value) == "c1 is neither the newest compaction nor a message to go back to."
    history = await same_after_reopening(history)
    assert history.resting
    assert (history.fold(summary(history.entries[:4], "three")).id, history.resting) == ("c3", False)


async def test_rewinding_ends_the_list_before_a_message(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 3)
    history.fold(summary(history.entries[:4], "one"))
    kept = list(history.entries[:6])
    await history.undo(history.entries[6].id)
    assert history.entries == kept
    history = await same_after_reopening(history)
    assert (say(history, "another way").id, history.turn) == ("m15", 4)
    await same_after_reopening(history)


async def test_rewinding_to_before_a_compaction_brings_back_what_it_folded(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 2)
    whole = list(history.entries)
    history.fold(summary(whole, "all"))
    talk(history, 1)
    await history.undo("m5")
    assert (history.entries, history.receipt) == (whole[:4], None)
    await same_after_reopening(history)


async def test_one_cannot_go_back_into_the_middle_of_calls(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "go")
    ask(history, "a", "b")
    answer(history, "a")
    answer(history, "b")
    before = history.path.read_bytes()
    for id in ("m3", "m4", "m99", "c1", "nonsense"):
        with pytest.raises(CodeAgentError):
            await history.undo(id)
    assert (history.path.read_bytes(), len(history.entries)) == (before, 4)
    await history.undo("m2")
    assert texts(history.entries) == ["go"]


async def test_clearing_empties_the_list_and_can_be_gone_back_behind(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 2)
    whole = list(history.entries)
    history.fold(summary(whole[:4], "one"))
    history.set_prompt(Prompt("Afresh."), "clear")
    assert (history.entries, history.receipt, history.tokens, history.turn) == ([], None, 0, 2)
    say(history, "new")
    history = await same_after_reopening(history)
    with pytest.raises(CodeAgentError):
        await history.undo("c1")
    await history.undo("m5")
    assert history.entries == whole[:4]
    await same_after_reopening(history)


async def test_nothing_can_be_undone_where_nothing_was_said(tmp_path: Path) -> None:
    with pytest.raises(CodeAgentError):
        await begin(tmp_path).undo("m1")


def test_a_fold_may_not_part_a_pair_and_then_leaves_no_trace(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 1)
    before = (history.path.read_bytes(), list(history.entries))
    foreign = Replacement(ToolMessage("call 1", "read_file", "x"), ("m3",), "m1")
    for proposal in (
        summary(history.entries[:2], "parts the call from its result"),
        summary(history.entries[2:], "parts the result from its call"),
        Compaction("", 1, "", (foreign,), 1, 1),
    ):
        with pytest.raises(ValueError, match=r"part a call|kept only"):
            history.fold(proposal)
    assert (history.path.read_bytes(), list(history.entries)) == before


@pytest.mark.parametrize("reason", ["compaction", "clear", "rewind", "undo", "model", "tools"])
async def test_usage_is_an_anchor_until_the_prompt_is_another(tmp_path: Path, reason: str) -> None:
    history = begin(tmp_path)
    talk(history, 1)
    history.report(Usage(500, 20), "m4", estimated=480)
    say(history, "more")
    assert history.anchor == Anchor(Usage(500, 20), 3)
    history.set_prompt(Prompt("You are an agent. It is Monday."), "resume")
    history = await same_after_reopening(history)
    assert history.anchor == Anchor(Usage(500, 20), 3)
    history.set_prompt(PROMPT, reason)  # type: ignore[arg-type]
    assert [history.anchor, history.spent] == [None, Spent(1, 500, 20, 0, None)]
    await same_after_reopening(history)


async def test_what_a_request_beside_the_conversation_cost_is_spent_and_no_anchor(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 1)
    history.report(Usage(500, 20), "m4", estimated=480, cost_usd=0.5)
    anchor = history.anchor
    history.spend(Usage(400, 30, 10), 0.25, "summary")
    assert (history.anchor, history.spent) == (anchor, Spent(2, 900, 50, 10, 0.75))
    await same_after_reopening(history)


async def test_a_fold_and_a_rewind_drop_the_anchor(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 2)
    history.report(Usage(500, 20), "m8", estimated=480)
    history.fold(summary(history.entries[:4], "one"))
    assert history.anchor is None
    await same_after_reopening(history)


async def test_a_name_given_long_ago_is_written_again_near_the_end(tmp_path: Path) -> None:
    history = begin(tmp_path)
    history.rename("fix the parser")
    say(history, "x" * 100)
    await history.sync()
    say(history, "x" * 40_000)
    await history.sync()
    size = history.path.stat().st_size
    await history.sync()
    assert history.path.stat().st_size == size
    assert history.path.read_bytes().count(b'"name":"fix the parser"') == 2
    await same_after_reopening(history)


async def test_a_file_whose_lines_another_hand_formatted_reads_the_same(tmp_path: Path) -> None:
    history = begin(tmp_path)
    talk(history, 2)
    history.fold(summary(history.entries[:4], "one"))
    history.close()
    other = session_path(tmp_path, "s2")
    pretty = (dict(reversed(json.loads(line).items())) for line in history.path.read_bytes().splitlines())
    other.write_text("".join(json.dumps(record) + "\n" for record in pretty))
    assert read_state(other) == read_state(history.path)
