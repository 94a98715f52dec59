"""Pictures and the ladder: old ones become notes, what stands beside them stays."""

from __future__ import annotations

from dataclasses import replace

from codeagent.core.entries import Compaction, Entry, Need
from codeagent.core.images import Image, data_url, sized
from codeagent.core.messages import Message, ToolCall, UserMessage, encode, unseen
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.rungs.mask import NO_LONGER_SHOWN
from codeagent.memory.working import groups
from tests.memory._world import Summariser, Talk
from tests.pictures import png

ESTIMATE = sized(estimate_classes)
SHOT = Image("[image shot.png: PNG, 1500x1500, 7 kB; kept in /home/x/shot.png]", data_url("png", png(1_500, 1_500)))


def show(talk: Talk, text: str, *, by_tool: bool = False) -> Talk:
    """A message with a picture of 3 000 tokens."""
    talk.user(text, "tool" if by_tool else "user")
    message = UserMessage(text, (SHOT,))
    wire = encode(message)
    talk.entries[-1] = replace(talk.entries[-1], message=message, wire=wire, tokens=ESTIMATE(wire))
    return talk


async def climb(talk: Talk, budget: int, *summaries: str) -> Compaction | None:
    compactor = ConversationHistoryCompactor(Summariser(*summaries), ESTIMATE, budget=ContextBudget(budget))
    return await compactor.compact(talk, Need(ESTIMATE(talk.prompt.system.encode()) + talk.tokens))


def stands(talk: Talk, proposal: Compaction) -> dict[str, Message]:
    """The messages of the talk as they would be."""
    new = {id: item.message for item in proposal.messages for id in item.of}
    return {entry.id: new.get(entry.id, entry.message) for entry in talk.entries}


async def test_old_pictures_are_masked_and_the_words_beside_them_stay() -> None:
    talk = show(Talk(), "Never touch vendor/.").assistant("Ok.")
    talk.user("go").assistant("", ToolCall("c1", "read_file")).tool("c1", "Image shot.png. It follows the results.")
    show(talk, "[Images]", by_tool=True).assistant("Seen.")
    for number in range(3):
        talk.user(f"turn {number}").assistant("Done.")
    before: list[Entry] = list(talk.entries)
    proposal = await climb(talk, 8_000)
    assert proposal is not None and proposal.rung == 1
    assert proposal.left == (before[0].id, before[5].id)
    note = f"{SHOT.caption} ({NO_LONGER_SHOWN})"
    assert stands(talk, proposal) == {
        entry.id: unseen(entry.message, NO_LONGER_SHOWN) if isinstance(entry.message, UserMessage) else entry.message
        for entry in before
    }
    assert stands(talk, proposal)[before[0].id] == UserMessage(f"Never touch vendor/.\n{note}")
    assert proposal.tokens_after < 1_000


async def test_pictures_of_the_newest_turns_go_where_nothing_else_helps() -> None:
    talk = show(show(Talk(), "first"), "second")
    proposal = await climb(talk, 4_000, "Looked at.")
    assert proposal is not None and proposal.rung == 4
    after = stands(talk, proposal)
    assert ["first" in after["m1"].text, after["m2"]] == [True, unseen(UserMessage("second", (SHOT,)), NO_LONGER_SHOWN)]


async def test_the_record_of_a_fold_tells_where_pictures_are_kept() -> None:
    talk = show(Talk(), "Look.").assistant("Seen. " * 100)
    for number in range(3):
        talk.user(f"turn {number}").assistant("Done. " * 1_000)
    proposal = await climb(talk, 8_000, "Things were looked at.")
    assert proposal is not None and proposal.rung >= 2
    assert f"- read {SHOT.caption}" in proposal.messages[0].message.text


def test_pictures_stay_with_the_results_they_belong_to() -> None:
    talk = Talk().user("go").assistant("", ToolCall("c1", "read_file")).tool("c1", "It follows.")
    show(talk, "[Images]", by_tool=True).assistant("Seen.")
    assert [len(group) for group in groups(talk.entries)] == [1, 3, 1]
