from __future__ import annotations

import asyncio
import os
import resource

import pytest

from codeagent.core.tools import ToolResult
from tests.tools.world import World


async def test_lines_come_numbered(world: World) -> None:
    world.file("a.py", "x = 1\r\n\ny = '好'")
    assert await world.run("read_file", path="a.py") == ToolResult("1\tx = 1\n2\t\n3\ty = '好'", summary="3 lines")


async def test_a_page_says_where_the_next_begins(world: World) -> None:
    world.file("a.txt", "".join(f"{n}\n" for n in range(1, 6)))
    assert await world.run("read_file", path="a.txt", offset=2, limit=2) == ToolResult(
        "2\t2\n3\t3\n[lines 2-3 of 5; go on with offset=4]", partial=True, summary="2 lines of 5"
    )
    assert (await world.run("read_file", path="a.txt", offset=0)).text.startswith("1\t1\n")
    assert await world.run("read_file", path="a.txt", offset=4) == ToolResult("4\t4\n5\t5", summary="2 lines")
    assert await world.run("read_file", path="a.txt", offset=6) == ToolResult(
        "a.txt has 5 lines; offset 6 is behind its end.", failed=True, summary="behind the end"
    )


async def test_a_call_gives_2000_lines_at_most(world: World) -> None:
    world.file("a.txt", "x\n" * 5_321)
    result = await world.run("read_file", path="a.txt", limit=9_999)
    assert result.text.splitlines()[-2:] == ["2000\tx", "[lines 1-2000 of 5321; go on with offset=2001]"]


async def test_a_call_gives_32_kb_at_most_and_paging_reads_everything(world: World) -> None:
    lines = [f"行 {n} {'字' * (n % 50)}" for n in range(1, 1_500)]
    world.file("a.txt", "\n".join(lines))
    seen: list[str] = []
    while True:
        result = await world.run("read_file", path="a.txt", offset=len(seen) + 1)
        assert len(result.text.encode()) <= 32_768
        seen += [line.split("\t", 1)[1] for line in result.text.splitlines() if "\t" in line]
        if not result.partial:
            break
    assert seen == lines


async def test_a_long_line_is_cut_with_a_note(world: World) -> None:
    world.file("min.js", "a" * 300_000 + "\nshort\n")
    result = await world.run("read_file", path="min.js")
    assert result.text == f"1\t{'a' * 2_000} [+298000 characters; see them with shell: cut -c]\n2\tshort"


async def test_a_large_file_is_read_in_little_memory(world: World) -> None:
    path = world.file("huge.log", "")
    with path.open("wb") as file:
        file.truncate(600_000_000)
        file.write(b"first\nsecond\n" + b"x" * 2_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await world.run("read_file", path="huge.log", limit=2)
    assert result == ToolResult(
        "1\tfirst\n2\tsecond\n[lines 1-2 of 3; go on with offset=3]", partial=True, summary="2 lines of 3"
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8-sig", ""),
        ("utf-16", "\n[encoding utf-16-le, kept when you edit]"),
        ("gb18030", "\n[encoding gb18030, kept when you edit]"),
    ],
)
async def test_encodings_are_read(world: World, encoding: str, note: str) -> None:
    world.file("a.txt", "你好，世界\n再见\n".encode(encoding))
    assert await world.run("read_file", path="a.txt") == ToolResult(f"1\t你好，世界\n2\t再见{note}", summary="2 lines")


async def test_what_is_no_text_says_so(world: World) -> None:
    world.file("a.bin", b"\0\1\2")
    assert await world.run("read_file", path="a.bin") == ToolResult(
        "a.bin is binary (3 bytes).", failed=True, summary="binary"
    )


async def test_an_empty_file_says_so(world: World) -> None:
    world.file("a.txt", "")
    assert await world.run("read_file", path="a.txt") == ToolResult("(a.txt is empty)", summary="empty")


async def test_a_missing_file_names_the_nearest(world: World) -> None:
    world.file("src/config.py", "")
    world.file("src/other.py", "")
    assert (await world.run("read_file", path="src/Confg.py")).text == (
        "src/Confg.py does not exist. Nearest: src/config.py."
    )
    assert (await world.run("read_file", path="scr/config.py")).text == ("scr/config.py does not exist. Nearest: src.")
    assert (await world.run("read_file", path="zzzz/config.py")).text == (
        "zzzz/config.py does not exist. The folder zzzz does not exist either."
    )


async def test_names_outside_the_project_are_not_told(world: World) -> None:
    (world.top.parent / "secret.txt").write_text("")
    assert (await world.run("read_file", path="../secre.txt")).text == f"{world.top.parent}/secre.txt does not exist."


async def test_a_folder_gives_its_listing(world: World) -> None:
    world.file("b.txt", "")
    world.file("a/x.txt", "")
    assert await world.run("read_file", path=".") == ToolResult(
        ". is a folder with 2 entries:\na/\nb.txt", summary="2 entries"
    )


async def test_what_is_no_regular_file_is_not_waited_for(world: World) -> None:
    os.mkfifo(world.top / "pipe")
    assert (await world.run("read_file", path="pipe")).text == "pipe is not a regular file."


@pytest.mark.parametrize("path", ["", "a\0b"])
async def test_an_impossible_path_is_refused(world: World, path: str) -> None:
    assert await world.run("read_file", path=path) == ToolResult(
        "path is empty or holds a NUL character.", failed=True, summary="bad path"
    )


async def test_200_reads_at_once(world: World) -> None:
    for n in range(200):
        world.file(f"{n}.txt", f"file {n}")
    results = await asyncio.gather(*(world.run("read_file", path=f"{n}.txt") for n in range(200)))
    assert [result.text for result in results] == [f"1\tfile {n}" for n in range(200)]
