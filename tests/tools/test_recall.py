"""recall as the model sees it, over real sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.core.paths import Home
from codeagent.core.tools import ROOM, ToolResult
from codeagent.history.history import History
from codeagent.history.past import SessionPast
from codeagent.history.sessions import new_session
from tests.history.support import INFO, NOON, begin, reply, say, summary
from tests.tools.world import World

WHOLE = "[recall with an id gives that message whole]"


@pytest.fixture
def history(world: World, tmp_path: Path) -> History:
    """The session that the tool works in."""
    begun = begin(tmp_path)
    world.ctx = replace(
        world.ctx,
        past=SessionPast(
            Home(tmp_path),
            INFO.project_id,
            list,
            str,
            begun.path,
            entries=lambda: begun.entries,
            clock=lambda: NOON + 7200,
        ),
    )
    return begun


def forget(history: History) -> None:
    """Everything leaves the context."""
    history.fold(summary(history.entries, "Nothing."))


async def test_what_left_the_context_is_found_and_read(world: World, history: History) -> None:
    say(history, "不要改 vendor/。")
    reply(history, "好。")
    forget(history)
    found = await world.run("recall", query="vendor/")
    assert found == ToolResult(f"m1 · turn 1 · user · 2 h ago\n不要改 vendor/。\n\n{WHOLE}", summary="1 hit")
    whole = await world.run("recall", id="m1")
    assert (whole.text.splitlines()[1:], whole.partial, whole.summary) == (
        ["不要改 vendor/。"],
        False,
        f"{len(whole.text)} characters",
    )


async def test_what_the_context_holds_is_only_counted(world: World, history: History) -> None:
    say(history, "the needle")
    assert await world.run("recall", query="needle") == ToolResult(
        "Nothing fits needle.\n[1 more passage in your context already]\n"
        "[scope=project searches this project's earlier sessions too]",
        summary="no hits",
    )


async def test_earlier_sessions_are_reached_by_scope(world: World, history: History, tmp_path: Path) -> None:
    say(new_session(history.path.with_name("s2.jsonl"), INFO, now=lambda: NOON), "the needle")
    found = await world.run("recall", query="needle", scope="project")
    assert found.text.splitlines()[0] == "s2/m1 · turn 1 · user · 2 h ago"
    assert (await world.run("recall", id="s2/m1")).text.endswith("\nthe needle")


async def test_hits_are_paged_within_the_bound(world: World, history: History) -> None:
    for number in range(40):
        say(history, f"needle {number} " + "文字" * 400)
    forget(history)
    seen, offset = [], 0
    while True:
        page = await world.run("recall", query="needle", limit=50, offset=offset)
        assert len(page.text.encode()) < 8_300
        ids = [line.split()[0] for line in page.text.splitlines() if " · turn " in line]
        assert 0 < len(ids) <= 20
        seen += ids
        offset += len(ids)
        if not page.partial:
            break
        assert f"[hits {offset - len(ids) + 1}-{offset} of 40; go on with offset={offset}]" in page.text
    assert sorted(seen) == sorted(f"m{number}" for number in range(1, 41))
    behind = await world.run("recall", query="needle", offset=offset)
    assert (behind.text, behind.failed) == ("There are only 40 hits; offset 40 is behind them.", True)


@pytest.mark.parametrize("room", [ROOM, 900])
async def test_a_long_message_is_read_page_by_page(world: World, history: History, room: int) -> None:
    world.ctx = replace(world.ctx, room=room)
    say(history, "".join(f"第{number:04}行\n" for number in range(1000)))
    text, offset = "", 0
    while True:
        page = await world.run("recall", id="m1", offset=offset)
        body, _, note = page.text.partition("\n[characters ")
        assert len(body.encode()) <= room
        text += body
        offset = len(text)
        if not page.partial:
            break
        assert note.endswith(f"go on with offset={offset}]")
    assert text.partition("\n")[2] == history.entries[0].message.text
    assert (await world.run("recall", id="m1", offset=10**6)).summary == "behind the end"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "Give either query or id."),
        ({"query": "x", "id": "m1"}, "Give either query or id."),
        ({"query": "  "}, "Give either query or id."),
        ({"id": "m99"}, "There is nothing of the id m99."),
        ({"id": "../../etc/passwd"}, "No session starts with ../../etc."),
    ],
)
async def test_what_cannot_be_is_said(world: World, history: History, arguments: dict[str, str], says: str) -> None:
    say(history, "one")
    result = await world.run("recall", **arguments)
    assert (result.text, result.failed) == (says, True)


async def test_an_index_that_cannot_be_made_is_said(world: World, history: History, tmp_path: Path) -> None:
    say(history, "needle")
    (tmp_path / "history" / "index.db").mkdir()
    result = await world.run("recall", query="needle")
    assert (result.failed, "index.db cannot be used" in result.text) == (True, True)
    assert (await world.run("recall", id="m1")).text.endswith("\nneedle")
