"""The history made smaller: whole lists of messages, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.entries import Compaction, Entry, Need, Replacement
from codeagent.core.errors import CodeAgentError, ContextOverflow, ModelError, NetworkError
from codeagent.core.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage, encode
from codeagent.core.tokens import estimate_classes
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.ledger import Ledger, Words, read, split
from tests.memory._world import Summariser, Talk

PROMPTS = Path(__file__).resolve().parents[2] / "codeagent" / "memory" / "prompts"


def compactor(
    summariser: Summariser, mode: Literal["ladder", "classic"] = "ladder", keep_turns: int = 3
) -> ConversationHistoryCompactor:
    return ConversationHistoryCompactor(
        summariser, estimate_classes, mode=mode, keep_turns=keep_turns, new_id=lambda: "c1"
    )


async def compacted(talk: Talk, summariser: Summariser, *, focus: str | None = None) -> Compaction:
    """At the person's word."""
    proposal = await compactor(summariser).compact(talk, Need(size(talk), force=True, focus=focus))
    assert proposal is not None
    return proposal


def size(talk: Talk) -> int:
    """Tokens of a request with all that was said."""
    return talk.tokens + estimate_classes(talk.prompt.system.encode()) + estimate_classes(talk.prompt.tools)


def folded(entries: Sequence[Entry], proposal: Compaction) -> list[Message]:
    """The messages after the fold: what is replaced goes, each replacement stands where the first of it stood."""
    gone = {id for replacement in proposal.messages for id in replacement.of}
    messages: list[Message] = []
    for entry in entries:
        if entry.id == proposal.messages[0].of[0]:
            messages += (replacement.message for replacement in proposal.messages)
        if entry.id not in gone:
            messages.append(entry.message)
    return messages


def summary_and_acknowledgement(proposal: Compaction) -> tuple[str, str]:
    summary, acknowledgement = (replacement.message for replacement in proposal.messages)
    assert isinstance(summary, UserMessage)
    assert isinstance(acknowledgement, AssistantMessage)
    assert acknowledgement.calls == ()
    return summary.text, acknowledgement.text


async def test_classic_is_summary_acknowledgement_and_three_turns_byte_for_byte() -> None:
    talk = Talk().turns(1, 5)
    proposal = await compactor(Summariser("目标：完成第 6 步。"), "classic").compact(talk, Need(9_000))
    assert proposal is not None
    _, acknowledgement = summary_and_acknowledgement(proposal)
    kept = talk.entries[8:]
    assert [entry.message for entry in kept if isinstance(entry.message, UserMessage)] == [
        UserMessage(f"Request {number}: do step {number}.") for number in (3, 4, 5)
    ]
    assert folded(talk.entries, proposal) == [
        UserMessage("目标：完成第 6 步。"),
        AssistantMessage(acknowledgement),
        *(entry.message for entry in kept),
    ]
    assert acknowledgement


@pytest.mark.parametrize("mode", ["ladder", "classic"])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
async def test_fewer_than_four_turns_have_no_cut(mode: Literal["ladder", "classic"], turns: int) -> None:
    summariser = Summariser()
    assert await compactor(summariser, mode).compact(Talk().turns(1, turns), Need(9_000)) is None
    assert summariser.asked == []


async def test_the_proposal_names_what_it_replaces() -> None:
    talk = Talk().turns(1, 4)
    proposal = await compacted(talk, Summariser("All of step 1."))
    first = [entry for entry in talk.entries if entry.turn == 1]
    ids = tuple(entry.id for entry in first)
    messages = proposal.messages
    new = sum(estimate_classes(encode(replacement.message)) for replacement in messages)
    assert proposal == Compaction(
        id="c1",
        rung=2,
        first_kept="m5",
        messages=(Replacement(messages[0].message, of=ids), Replacement(messages[1].message)),
        tokens_before=size(talk),
        tokens_after=size(talk) - sum(entry.tokens for entry in first) + new,
        left=ids,
        coverage=0.5,
    )
    summary, _ = summary_and_acknowledgement(proposal)
    assert read(summary) == Ledger((Words("m1", "Request 1: do step 1."),), commands=(("make step-1", ""),))
    assert split(summary)[2] == "All of step 1."


async def test_the_summary_request_reuses_the_sessions_own_prefix() -> None:
    talk = Talk().turns(1, 4)
    summariser = Summariser("Summary.")
    await compacted(talk, summariser, focus="the port")
    [(messages, tools, instruction)] = summariser.asked
    assert messages == [encode(SystemMessage(talk.prompt.system)), *(entry.wire for entry in talk.entries[:4])]
    assert tools == talk.prompt.tools
    assert "the port" in instruction
    assert instruction.startswith((PROMPTS / "summary.md").read_text(encoding="utf-8").strip())


async def test_each_mode_asks_in_its_own_way() -> None:
    asked = []
    for mode in ("ladder", "classic"):
        summariser = Summariser("Summary.")
        await compactor(summariser, mode).compact(Talk().turns(1, 4), Need(9_000, force=True))
        asked.append(summariser.asked[0][2])
    assert asked == [(PROMPTS / name).read_text(encoding="utf-8").strip() for name in ("summary.md", "classic.md")]


async def test_messages_steered_into_a_turn_are_no_border() -> None:
    talk = Talk().turns(1, 3).user("And in English, please.", origin="steer").assistant("Yes.")
    assert await compactor(Summariser(), "classic").compact(talk, Need(9_000)) is None


async def test_compacting_again_gives_the_earlier_summary_to_the_next() -> None:
    talk = Talk().user("Summary of turns 1 to 9.", origin="summary").turns(10, 13)
    summariser = Summariser("Summary of turns 1 to 10.")
    proposal = await compacted(talk, summariser)
    assert summariser.asked[0][0][1] == encode(UserMessage("Summary of turns 1 to 9."))
    assert proposal.left == ("m1", "m2", "m3", "m4", "m5")


async def test_a_summary_alone_is_not_summarised_again() -> None:
    talk = Talk().user("Summary of turns 1 to 9. " * 200, origin="summary").turns(10, 12)
    assert await compactor(Summariser(), keep_turns=3).compact(talk, Need(9_000)) is None


async def test_what_is_too_small_to_gain_anything_costs_no_request() -> None:
    talk = Talk().user("hi").assistant("Hello.").turns(2, 4)
    summariser = Summariser()
    assert await compactor(summariser).compact(talk, Need(size(talk), force=True)) is None
    assert summariser.asked == []


async def test_classic_asks_no_such_question() -> None:
    talk = Talk()
    for number in range(1, 5):
        talk.user(f"{number}?").assistant(f"{number}!")
    proposal = await compactor(Summariser("One."), "classic").compact(talk, Need(900))
    assert proposal is not None
    assert folded(talk.entries, proposal) == [
        UserMessage("One."),
        proposal.messages[1].message,
        UserMessage("2?"),
        AssistantMessage("2!"),
        UserMessage("3?"),
        AssistantMessage("3!"),
        UserMessage("4?"),
        AssistantMessage("4!"),
    ]


@pytest.mark.parametrize("text", ["", "  \n", NetworkError("No connection."), "no smaller " * 5_000])
async def test_a_failure_is_an_error_with_a_sentence(text: str | Exception) -> None:
    with pytest.raises(CodeAgentError) as raised:
        await compactor(Summariser(text)).compact(Talk().turns(1, 4), Need(9_000, force=True))
    assert isinstance(raised.value, ModelError)
    assert str(raised.value)


async def test_forced_it_keeps_three_turns_where_there_are_more() -> None:
    assert (await compacted(Talk().turns(1, 5), Summariser("Summary."))).first_kept == "m9"


@pytest.mark.parametrize(("turns", "first_kept"), [(2, "m5"), (3, "m9")])
async def test_forced_it_keeps_the_newest_turn_where_there_are_fewer(turns: int, first_kept: str) -> None:
    assert (await compacted(Talk().turns(1, turns), Summariser("Summary."))).first_kept == first_kept


async def test_forced_after_a_single_turn_the_whole_of_it_goes() -> None:
    talk = Talk().turns(1, 1)
    proposal = await compacted(talk, Summariser("Summary."))
    assert (proposal.first_kept, proposal.left) == ("", ("m1", "m2", "m3", "m4"))


async def test_forced_within_a_single_turn_there_is_nothing_to_cut() -> None:
    talk = Talk().turns(1, 1)
    talk.entries.pop()
    assert await compactor(Summariser()).compact(talk, Need(9_000, force=True)) is None


async def test_the_focus_is_kept_with_the_proposal() -> None:
    assert (await compacted(Talk().turns(1, 4), Summariser("Summary."), focus="the port")).focus == "the port"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["turn", "steer", "talk"]), max_size=12),
    st.integers(1, 4),
    st.booleans(),
)
async def test_no_cut_parts_a_call_from_its_result(steps: list[str], keep_turns: int, force: bool) -> None:
    talk = Talk()
    for number, step in enumerate(steps):
        if step == "turn":
            talk.turns(number, number)
        else:
            talk.user(f"{step} " * 100, origin="steer" if step == "steer" and number else "user").assistant("Yes.")
    summariser = Summariser("Summary.")
    tokens = size(talk) if force else 200_000  # more than any request may have
    try:
        proposal = await compactor(summariser, keep_turns=keep_turns).compact(talk, Need(tokens, force=force))
    except ContextOverflow:
        assert not force
        return
    if proposal is None:
        return
    messages = folded(talk.entries, proposal)
    for before, after in pairwise(messages):
        if isinstance(before, AssistantMessage) and before.calls:
            assert isinstance(after, ToolMessage)
            assert after.call_id == before.calls[0].id
        else:
            assert not isinstance(after, ToolMessage)
    assert proposal.tokens_after < proposal.tokens_before
