from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.messages import ToolCall
from codeagent.history.archive import SessionArchive
from codeagent.tools.bounds import NOTES, Bounded, bound, clip, head_and_tail, size
from codeagent.tools.spool import Spool
from tests.tools.world import Folder, World


def test_short_text_is_left_alone(tmp_path: Path) -> None:
    assert bound("短", 3, Folder(tmp_path), "c1") == Bounded("短")
    assert list(tmp_path.iterdir()) == []


def test_long_text_keeps_both_ends_and_says_where_the_whole_is(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(1_000))
    bounded = bound(text, 60, Folder(tmp_path), "c1")
    assert bounded == Bounded(
        f"line 0\nline 1\n[... 8840 bytes left out; the whole is in {tmp_path}/c1.txt (read_file with offset, or grep)"
        " ...]\nline 996\nline 997\nline 998\nline 999\n",
        True,
        "c1.txt",
    )
    assert (tmp_path / "c1.txt").read_text() == text


def test_a_full_disk_does_not_lose_the_ends(tmp_path: Path) -> None:
    (tmp_path / "s1").write_text("")  # where the folder would be
    bounded = bound("x" * 100, 30, SessionArchive(tmp_path / "s1.jsonl"), "c1")
    assert bounded == Bounded(
        f"xxxxxxxxxx\n[... 70 bytes left out; it is not archived: {tmp_path}/s1 cannot be written: File exists ...]\n"
        + "x" * 20,
        True,
    )


@given(st.text(), st.integers(1, 60))
def test_head_and_tail_stay_within_the_limit(text: str, limit: int) -> None:
    head, tail, left_out = head_and_tail(text, limit)
    if left_out:
        assert size(head) + size(tail) <= limit
        assert text.encode("utf-8", "replace").startswith(head.encode())
        assert text.encode("utf-8", "replace").endswith(tail.encode())
    else:
        assert (head, tail) == (text, "")


def test_a_long_line_says_how_much_more_there_is() -> None:
    assert clip("abcdef", 4) == "abcd [+2 characters]"
    assert clip("abcd", 4) == "abcd"


@given(st.lists(st.binary(max_size=9), max_size=30), st.integers(0, 100))
def test_a_spool_keeps_beginning_and_end(pieces: list[bytes], offset: int) -> None:
    spool = Spool(head=10, tail=10)
    for piece in pieces:
        spool.add(piece)
    whole = b"".join(pieces)
    kept = spool.since(0)
    assert spool.total == len(whole)
    if len(whole) <= 20:
        assert spool.since(offset) == whole[offset:]
    assert kept.startswith(whole[:10])
    assert kept.endswith(whole[-10:] if len(whole) >= 20 else b"")


def test_a_spool_says_what_it_forgot() -> None:
    spool = Spool(head=4, tail=4)
    for digit in b"0123456789":
        spool.add(bytes([digit]))
    assert spool.since() == b"0123\n[... 2 bytes not kept ...]\n6789"
    assert spool.since(5) == b"\n[... 1 bytes not kept ...]\n6789"
    assert spool.since(8) == b"89"


LONG = "".join(f"行 {n} of the file\n" for n in range(1_000))


@pytest.mark.parametrize(
    ("tool", "arguments", "rest"),
    [
        ("read_file", {"path": "long.txt"}, "go on with offset="),
        ("grep", {"pattern": "行", "path": "long.txt"}, "go on with offset="),
        ("shell", {"command": "cat long.txt"}, "bytes left out; the whole is in"),
        ("glob", {"pattern": "many/*"}, "bytes left out; the whole is in"),
    ],
)
async def test_where_there_is_little_room_a_result_says_how_to_get_the_rest(
    world: World, tool: str, arguments: dict[str, str], rest: str
) -> None:
    (world.top / "long.txt").write_text(LONG, "utf-8")
    (world.top / "many").mkdir()
    for number in range(150):
        (world.top / "many" / f"{number}-{'x' * 40}").touch()
    ctx = replace(world.ctx, room=1_200)
    result = await world.toolbox.run(ToolCall("c1", tool, json.dumps(arguments)), ctx)
    assert (result.failed, result.partial, rest in result.text) == (False, True, True)
    assert 600 < size(result.text) < ctx.room + NOTES + 300
