"""The ladder rung by rung: what is enough, what stays whole, and that it never climbs for nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.entries import Compaction, Need, Prompt
from codeagent.core.errors import ContextOverflow, NetworkError
from codeagent.core.messages import ToolCall, ToolMessage, UserMessage, encode
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.ledger import MARK, SUMMARY, Ledger, Words, ended, ledger, read, render, split
from codeagent.memory.pastes import without_pastes
from codeagent.memory.rungs.mask import mask
from tests.memory._world import Summariser, Talk
from tests.memory.test_compactor import size

BUDGET = ContextBudget(8_000)
"""trigger 5 000, target 2 500, hard limit 6 000."""


ROOMY = ContextBudget(64_000)
"""trigger 40 000, target 30 000."""


async def climb(
    talk: Talk,
    *summaries: str | Exception,
    ask: bool = True,
    more: int = 0,
    mask: bool = True,
    verify: bool = True,
    budget: ContextBudget = BUDGET,
) -> Compaction | None:
    compactor = ConversationHistoryCompactor(
        Summariser(*summaries), estimate_classes, budget=budget, mask=mask, verify=verify
    )
    return await compactor.compact(talk, Need(size(talk) + more, ask=ask, unasked="" if ask else "it rests"))


def steps(talk: Talk, count: int, lines: int = 40) -> Talk:
    """Commands within the running turn."""
    for number in range(count):
        call = ToolCall(f"s{len(talk.entries)}", "shell", f'{{"command":"make {number}"}}')
        talk.assistant("", call).tool(call.id, "a line of output\n" * lines + "[exit 0]")
    return talk


async def test_old_results_are_masked_before_the_newest_three_turns() -> None:
    talk = steps(Talk().user("Never touch vendor/. 不要改 docs/。"), 24, 50)
    for number in range(3):
        talk.user(f"turn {number}").assistant("Done.")
    proposal = await climb(talk)
    assert proposal is not None and (proposal.rung, proposal.held) == (1, 2)
    results = [entry for entry in talk.entries if isinstance(entry.message, ToolMessage)]
    assert proposal.left == tuple(entry.id for entry in results)
    assert [item.id for item in proposal.messages] == [entry.id for entry in results]
    line = proposal.messages[0].message.text
    assert ("\n" in line, f'recall(id="{results[0].id}")' in line, "exit 0" in line) == (False, True, True)


@pytest.mark.parametrize(
    ("budget", "count", "lines", "whole"), [(ROOMY, 26, 350, 5), (BUDGET, 26, 40, 2), (BUDGET, 10, 115, 3)]
)
async def test_in_a_single_turn_the_newest_groups_stay_whole_as_far_as_they_fit(
    budget: ContextBudget, count: int, lines: int, whole: int
) -> None:
    talk = steps(Talk().user("one"), count, lines)
    proposal = await climb(talk, budget=budget)
    assert proposal is not None and (proposal.rung, proposal.tokens_after <= budget.target) == (1, True)
    assert proposal.left == tuple(entry.id for entry in talk.entries[2 : -2 * whole : 2])


async def test_where_masks_are_not_enough_the_turn_is_folded_behind_its_request() -> None:
    talk = Talk().user("Never touch vendor/.")
    for _ in range(13):
        talk.assistant("thinking aloud " * 200)
    proposal = await climb(talk, "A summary.")
    assert proposal is not None and (proposal.rung, proposal.messages[0].id) == (3, "m1")
    assert proposal.messages[0].message.text.startswith(f"Never touch vendor/.\n\n{MARK}\n")


async def test_without_masks_the_turn_is_folded_at_once() -> None:
    talk = steps(Talk().user("one"), 26)
    masked, folded = await climb(talk), await climb(talk, "A summary.", mask=False)
    assert masked is not None and folded is not None
    assert (masked.rung, folded.rung) == (1, 3)


async def test_without_verification_the_summary_stands_alone() -> None:
    talk = Talk().user("Never touch vendor/.").assistant("Done.")
    for number in range(4):
        talk.user(f"turn {number}").assistant("thinking aloud " * (900 if number == 0 else 1))
    checked, alone = await climb(talk, "Nothing much."), await climb(talk, "Nothing much.", verify=False)
    assert checked is not None and alone is not None
    assert (checked.repaired, checked.held) == (("Never touch vendor/.",), 1)
    assert (alone.repaired, alone.coverage, alone.held) == ((), None, 0)
    assert alone.messages[0].message.text == f"{MARK}\n{SUMMARY}\nNothing much."
    assert split(alone.messages[0].message.text) == ("", "", "Nothing much.")


async def test_without_verification_and_without_a_summary_the_record_stands_in() -> None:
    talk = Talk().user("Never touch vendor/.").assistant("Done.").user("And now?").assistant("thinking aloud " * 3_200)
    assert size(talk) > BUDGET.hard_limit
    proposal = await climb(talk, "", verify=False)
    assert proposal is not None and proposal.failure
    assert (proposal.held, "Never touch vendor/." in proposal.messages[0].message.text) == (1, True)


@pytest.mark.parametrize("bad", ["", NetworkError("No connection."), "longer " * 9_000])
async def test_where_it_cannot_be_sent_the_record_alone_is_enough(bad: str | Exception) -> None:
    talk = Talk().user("Never touch vendor/.")
    for _ in range(16):
        talk.assistant("thinking aloud " * 200)
    assert size(talk) > BUDGET.hard_limit
    proposal = await climb(talk, bad)
    assert proposal is not None and proposal.failure
    assert proposal.tokens_after < BUDGET.hard_limit


@pytest.mark.parametrize(
    ("summaries", "failure"),
    [(("A summary.",), ""), (("",), "The model gave an empty summary."), ((), "it rests")],
)
async def test_why_there_is_no_summary_is_told_as_it_was(summaries: tuple[str, ...], failure: str) -> None:
    talk = Talk().user(f"{MARK}\n{SUMMARY}\n" + "old words " * 2_400, "summary")
    for _ in range(5):
        talk.assistant("thinking aloud " * 250)
    proposal = await climb(talk, *summaries, ask=bool(summaries))
    assert proposal is not None
    assert (proposal.rung, proposal.failure) == (3, failure)


@pytest.mark.parametrize("bad", ["", NetworkError("No connection."), ContextOverflow("Too long."), "longer " * 30_000])
async def test_a_model_is_asked_once_and_what_needs_none_goes_on(bad: str | Exception) -> None:
    """Nothing before the newest turns can be masked, so a summary is tried; then their own older results are."""
    talk = Talk().user("one").assistant("thinking aloud " * 9_000).user("two")
    steps(talk, 16, 340).user("three").assistant("Yes.").user("four")
    summariser = Summariser(bad)
    compactor = ConversationHistoryCompactor(summariser, estimate_classes, budget=ROOMY)
    proposal = await compactor.compact(talk, Need(size(talk)))
    assert ROOMY.trigger < size(talk) < ROOMY.hard_limit
    assert proposal is not None and (proposal.rung, len(summariser.asked)) == (1, 1)
    assert proposal.failure and proposal.tokens_after < ROOMY.target


async def test_one_message_larger_than_the_window_loses_its_middle_and_no_rule() -> None:
    talk = Talk().user("Read this.\n" + "2026 a log line\n" * 6_000 + "Never commit it. 不要提交。")
    proposal = await climb(talk.assistant("Yes."), ask=False)
    assert proposal is not None and proposal.tokens_after < BUDGET.hard_limit
    text = proposal.messages[0].message.text
    assert all(part in text for part in ("Read this.", "Never commit it. 不要提交。", 'recall(id="m1")'))


async def test_where_there_is_no_room_for_a_summary_the_record_alone_is_enough() -> None:
    """System prompt and tools take nearly all; nobody is asked for what would not fit."""
    prompt = Prompt("You are a coding agent. " * 940)
    talk = steps(Talk(prompt=prompt).user("Never touch vendor/. 不要改 vendor/。"), 2, 200)
    fixed = estimate_classes(prompt.system.encode())
    assert BUDGET.trigger < fixed < BUDGET.hard_limit - 250
    proposal = await climb(talk)
    assert proposal is not None and proposal.tokens_after < BUDGET.hard_limit
    assert (proposal.failure, proposal.held) == ("there is no room for one", 2)


async def test_a_message_of_nothing_typed_is_shortened_too() -> None:
    talk = Talk().user("").assistant("Yes.")
    talk.entries[0] = replace(talk.entries[0], said="", **_message("a line of a log\n" * 6_000))
    proposal = await climb(talk, ask=False)
    assert proposal is not None and proposal.tokens_after < BUDGET.hard_limit


def _message(text: str) -> dict[str, Any]:
    message = UserMessage(text)
    return {"message": message, "wire": encode(message), "tokens": estimate_classes(encode(message))}


async def test_what_cannot_shrink_is_told_with_its_sizes() -> None:
    with pytest.raises(ContextOverflow) as raised:
        await climb(Talk().user("hi"), more=7_000)
    assert raised.value.arguments["limit"] == BUDGET.hard_limit


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("[exit 2]", "exit 2"),
        ("[exit 0 after 12 s]", "exit 0"),
        ("[exit 1; the next command runs in lib]", "exit 1"),
        ("[killed by SIGKILL after 3.2 s]", "killed by SIGKILL"),
        ("[exit 3]\n\n[Output of the project's hook post_edit]\n" + "a line\n" * 900, "exit 3"),
        ("[exit 0]\nand more", "exit 0"),
        ("see [exit 0]", ""),
        ("(interrupted)", ""),
    ],
)
def test_how_a_command_ended_is_known_from_its_result_masked_or_not(status: str, end: str) -> None:
    text = f"[exit 9]\noutput\n{status}" if end else status
    assert (ended(text), ended(mask(text, "m3"))) == (end, end)


LINE = st.sampled_from(["Never do x.", "  - 必须", "### Files", "- m9:", "", "| a | b |", MARK, "## Summary", "好"])


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(LINE, min_size=1, max_size=5), st.booleans()), max_size=6))
def test_a_record_is_read_back_as_it_was_written(said: list[tuple[list[str], bool]]) -> None:
    words = tuple(
        Words(f"m{n + 1}", "\n".join(["x", *lines]), answers="\n".join(lines) if both else "", answered="m99" * both)
        for n, (lines, both) in enumerate(said)
    )
    made = Ledger(
        tuple(w if w.answers else Words(w.id, w.text) for w in words), ("a b.py",), ("c.py",), (("make", "exit 2"),)
    )
    kept, text = render(made, lambda text: len(text), 10**6, 10**6)
    assert kept == made
    assert read(f"{MARK}\n{text}\n\n## Summary\nAnything.") == made


def test_what_was_typed_is_never_taken_for_a_paste() -> None:
    assert without_pastes("短的话。" * 900, "m1") == "短的话。" * 900


def test_the_record_names_every_file_that_a_patch_touched() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n-x\n+*** Add File: no.py\n"
        "*** Add File: 文档/新.md\n+x\n*** Delete File: old.py\n*** End Patch"
    )
    call = ToolCall("c1", "apply_patch", json.dumps({"patch": patch}))
    gone = Talk().user("Do it.").assistant("", call).tool("c1", "Done").entries
    made = ledger(gone, (), None, lambda entry: entry.message.text)
    assert made.modified == ("src/a.py", "src/b.py", "文档/新.md", "old.py")
