"""write_file and edit_file on real files."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import subprocess
import sys

import pytest

from codeagent.core.tools import Diff, ToolResult
from tests.tools.world import World


async def test_a_new_file_gets_its_folders(world: World) -> None:
    assert await world.run("write_file", path="a/b/c.txt", content="one\ntwo\n") == ToolResult(
        "Created a/b/c.txt (2 lines).", summary="2 lines", display=Diff("a/b/c.txt", None, "one\ntwo\n")
    )
    assert (world.top / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert [path.name for path in (world.top / "a/b").iterdir()] == ["c.txt"]


async def test_what_was_not_read_is_not_overwritten(world: World) -> None:
    path = world.file("a.txt", "old")
    assert await world.run("write_file", path="a.txt", content="new") == ToolResult(
        "a.txt has not been read yet. Read it with read_file first, then change it.", failed=True, summary="not read"
    )
    assert path.read_text() == "old"
    await world.run("read_file", path="a.txt")
    assert await world.run("write_file", path="a.txt", content="new") == ToolResult(
        "Replaced a.txt (1 line).", summary="1 line", display=Diff("a.txt", "old", "new")
    )
    assert path.read_text() == "new"


@pytest.mark.parametrize("changed", ["new!", "longer"])
async def test_what_changed_since_is_not_overwritten(world: World, changed: str) -> None:
    path = world.file("a.txt", "old!")
    await world.run("read_file", path="a.txt")
    path.write_text(changed)
    refused = ToolResult(
        "a.txt has changed since it was read. Read it again, then change it.\n"
        f"What changed meanwhile:\n@@ line 1\n-old!\n+{changed}",
        failed=True,
        summary="changed",
    )
    assert await world.run("write_file", path="a.txt", content="mine") == refused
    assert await world.run("edit_file", path="a.txt", old_string="old", new_string="mine") == refused
    assert path.read_text() == changed


async def test_a_file_touched_but_equal_counts_as_read(world: World) -> None:
    path = world.file("a.txt", "old")
    await world.run("read_file", path="a.txt")
    os.utime(path, (1, 1))
    assert (await world.run("edit_file", path="a.txt", old_string="old", new_string="new")).failed is False


async def test_edits_follow_each_other_without_reading_again(world: World) -> None:
    path = world.file("a.py", "a = 1\nb = 2\n")
    assert await world.edit("a.py", "a = 1", "a = 10") == ToolResult(
        "Edited a.py, now line 1.", summary="edited", display=Diff("a.py", "a = 1\nb = 2\n", "a = 10\nb = 2\n")
    )
    assert (await world.run("edit_file", path="a.py", old_string="b = 2", new_string="b = 20\nc = 30")).text == (
        "Edited a.py, now lines 2-3."
    )
    assert path.read_text() == "a = 10\nb = 20\nc = 30\n"


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("gb18030", b"")],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_encoding_bom_and_line_ends_are_kept(world: World, encoding: str, bom: bytes, end: str) -> None:
    before, after = ["你好，世界", "再见", "完"], ["你好，世界", "明天", "见", "完"]
    path = world.file("a.txt", bom + end.join(before).encode(encoding))
    assert (await world.edit("a.txt", "再见\n完", "明天\n见\n完")).failed is False
    assert path.read_bytes() == bom + end.join(after).encode(encoding)
    assert (await world.run("write_file", path="a.txt", content="新\n的\n")).failed is False
    assert path.read_bytes() == bom + f"新{end}的{end}".encode(encoding)


async def test_mode_bits_and_links_are_kept(world: World) -> None:
    path = world.file("bin/tool.sh", "echo old\n")
    path.chmod(0o755)
    (world.top / "link.sh").symlink_to("bin/tool.sh")
    assert (await world.edit("link.sh", "old", "new")).text == "Edited bin/tool.sh, now line 1."
    assert (world.top / "link.sh").is_symlink()
    assert path.read_text() == "echo new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_a_character_the_encoding_lacks(world: World) -> None:
    path = world.file("a.txt", "café\n".encode("latin-1"))
    assert (await world.edit("a.txt", "café", "咖啡")).text == "a.txt is in latin-1, which lacks '咖'."
    assert (await world.run("write_file", path="a.txt", content="咖啡\n")).text == (
        "Replaced a.txt (1 line). Its encoding was latin-1, which lacks some of these characters: now UTF-8."
    )
    assert path.read_text(encoding="utf-8") == "咖啡\n"


async def test_an_ambiguous_passage_names_its_lines(world: World) -> None:
    path = world.file("a.txt", "x\ny\nx\n")
    assert await world.edit("a.txt", "x", "z") == ToolResult(
        "old_string occurs 2 times in a.txt, beginning at lines 1, 3. "
        "Take in more lines around the one you mean, or set replace_all.",
        failed=True,
        summary="ambiguous",
    )
    assert (await world.run("edit_file", path="a.txt", old_string="x", new_string="z", replace_all=True)).text == (
        "Edited a.txt: 2 replacements."
    )
    assert path.read_text() == "z\ny\nz\n"


async def test_a_tolerated_difference_is_told(world: World) -> None:
    path = world.file("a.py", "class A:\n    def f(self):\n        return “x”\n")
    assert (await world.edit("a.py", 'def f(self):\n    return "x"\n', 'def f(self):\n    return "y"\n')).text == (
        "Edited a.py, now lines 2-3. old_string differed from the file in indentation, quotes; "
        "new_string was adapted likewise."
    )
    assert path.read_text() == "class A:\n    def f(self):\n        return “y”\n"


async def test_a_near_miss_answers_with_the_nearest_passage(world: World) -> None:
    world.file("a.py", "def area(radius):\n    return radius\n")
    assert await world.edit("a.py", "def area(r):\n    return radius\n", "") == ToolResult(
        "old_string does not occur in a.py. The nearest passage is:\n1\tdef area(radius):\n2\t    return radius\n"
        "What differs (- as you gave it, + in the file):\n@@ line 1\n-def area(r):\n+def area(radius):",
        failed=True,
        summary="not found",
    )


@pytest.mark.parametrize(
    ("old", "new", "summary"), [("a", "a", "no change"), ("", "a", "empty"), ("“a”", '"a"', "no change")]
)
async def test_an_edit_that_does_nothing_is_refused(world: World, old: str, new: str, summary: str) -> None:
    world.file("a.txt", 'a "a"')
    result = await world.edit("a.txt", old, new)
    assert (result.failed, result.summary) == (True, summary)


async def test_writing_the_same_again_is_refused(world: World) -> None:
    world.file("a.txt", "same")
    await world.run("read_file", path="a.txt")
    assert (await world.run("write_file", path="a.txt", content="same")).summary == "unchanged"


async def test_a_missing_file_is_made_by_write_file(world: World) -> None:
    assert (await world.edit("a.txt", "x", "y")).text == ("a.txt does not exist. A new file is made with write_file.")


async def test_a_file_where_a_folder_should_be(world: World) -> None:
    world.file("a", "text")
    world.file("folder/x", "")
    assert (await world.run("write_file", path="a/b.txt", content="x")).text == (
        "a is a file; no folder can be made there."
    )
    assert (await world.run("write_file", path="folder", content="x")).text == "folder is a folder."


async def test_half_a_character_is_refused(world: World) -> None:
    assert await world.run("write_file", path="a.txt", content="x\ud83dy") == ToolResult(
        "content holds \\ud83d, half a character that no file can hold. Write the character itself.",
        failed=True,
        summary="half a character",
    )
    assert list(world.top.iterdir()) == []


async def test_the_person_sees_the_diff_before_anything_is_written(world: World) -> None:
    path = world.file("a.txt", "old\n")
    world.gate.refuse = "edit_file"
    result = await world.edit("a.txt", "old", "new")
    assert result == ToolResult("Not here.", failed=True, denied=True, summary="denied")
    assert world.gate.actions[-1].preview == Diff("a.txt", "old\n", "new\n")
    assert world.gate.actions[-1].subject == str(path)
    assert path.read_text() == "old\n"


async def test_an_impossible_edit_asks_nobody(world: World) -> None:
    world.file("a.txt", "old\n")
    await world.edit("a.txt", "gone", "new")
    assert [action.tool for action in world.gate.actions] == ["read_file"]


async def test_a_full_folder_stays_clean_when_writing_fails(world: World) -> None:
    script = (
        "import resource, signal, sys, pathlib; from codeagent.tools.writing import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "try: write_atomic(pathlib.Path(sys.argv[1]), b'x' * 100)\nexcept OSError as error: print(error.errno)"
    )
    path = world.file("a.txt", "precious")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{errno.EFBIG}\n"
    assert path.read_text() == "precious"
    assert [path.name for path in world.top.iterdir()] == ["a.txt"]
