"""What holds for every edit: no byte outside its place changes, whatever the file is written in."""

from __future__ import annotations

import asyncio
import codecs
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.messages import ToolCall
from codeagent.tools.hunks import apply_hunks
from codeagent.tools.matching import Edited, apply_edit
from codeagent.tools.patches import Hunk
from codeagent.tools.writing import Change, write_together
from tests.tools.world import World, make_world

WORDS = {
    "utf-8": "plain 你好 naïve 🎉",
    "utf-16-le": "plain 你好 naïve",
    "utf-16-be": "plain 你好 naïve",
    "gb18030": "没有 文件 错误 返回值 函数",
    "big5": "編譯 錯誤 設定檔 測試 檔案",
    "shift_jis": "エラー ファイル 処理 設定 日本語",
    "euc-kr": "파일 오류 설정 한국어 시작",
    "cp1251": "ошибка файл привет Настройка",
    "latin-1": "Größe naïve früh señor",
}
BOMS = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
LAYOUTS = [(encoding, b"") for encoding in WORDS] + list(BOMS.items())


@pytest.mark.parametrize(("encoding", "bom"), LAYOUTS)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_edits_and_patches_go_round_through_every_encoding(encoding: str, bom: bytes, data: st.DataObject) -> None:
    words = WORDS[encoding].split()
    lines = [" ".join((*words, str(n))) for n in range(data.draw(st.integers(3, 6)))]
    kinds = data.draw(st.sampled_from([["\n", "\r\n"], ["\r"]]))
    ends = [data.draw(st.sampled_from(kinds)) for _ in lines]
    ends[-1] = data.draw(st.sampled_from(["", *kinds]))
    at = data.draw(st.integers(0, len(lines) - 1))
    by_patch = data.draw(st.booleans())

    def written(bodies: list[str]) -> bytes:
        return bom + "".join(body + end for body, end in zip(bodies, ends, strict=True)).encode(encoding)

    instead = " ".join(words[::-1])
    after = [instead if n == at else line for n, line in enumerate(lines)]
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        path = world.file("a.txt", written(lines))
        world.ctx.files.note(path)
        if by_patch:
            patch = f"*** Begin Patch\n*** Update File: a.txt\n-{lines[at]}\n+{instead}\n*** End Patch"
            result = _run(world, "apply_patch", patch=patch)
        else:
            result = _run(world, "edit_file", path="a.txt", old_string=lines[at], new_string=instead)
        assert not result
        assert path.read_bytes() == written(after)
        world.ctx.files.note(path)
        assert not _run(world, "edit_file", path="a.txt", old_string=instead, new_string=lines[at])
        assert path.read_bytes() == written(lines)


def _run(world: World, name: str, **arguments: str) -> str:
    """What went wrong."""
    result = asyncio.run(world.run(name, **arguments))
    return result.text if result.failed else ""


LINE = st.sampled_from(["a", "  b", "\tc", "“d”", "e  ", "", "（f）", "g = 1", "ﬁ…", "cafe\u0301", "\u3000h"])
ENDS = st.sampled_from(["\n", "\r\n"])


@given(st.lists(st.tuples(LINE, ENDS), max_size=8), st.lists(st.tuples(LINE, ENDS), max_size=8), st.data())
@settings(deadline=None)
def test_a_tolerant_edit_or_patch_changes_no_byte_outside_its_place(
    before: list[tuple[str, str]], behind: list[tuple[str, str]], data: st.DataObject
) -> None:
    head, tail = ("".join(map("".join, lines)) for lines in (before, behind))
    indent, end = data.draw(st.sampled_from(["", "    ", "\t"])), data.draw(ENDS)
    place = f"{indent}“only” here（1）  {end}{indent}    und…{end}"
    old = '"only" here(1)\n    und...\n'
    new = '"only" here(2)\n    und...\n'
    edit = apply_edit(head + place + tail, old, new)
    changed = place.replace("（1）  ", "（2）")
    assert isinstance(edit, Edited)
    assert edit.text == head + changed + tail
    hunk = Hunk((), tuple(old.splitlines()), tuple(new.splitlines()))
    assert apply_hunks(head + place + tail, [hunk], "a").text == head + changed + tail


BYTES = st.lists(st.integers(1, 255), max_size=12).map(bytes)


@given(BYTES, BYTES)
@settings(deadline=None)
def test_whatever_the_bytes_an_edit_changes_its_passage_alone(before: bytes, behind: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        path = world.file("a.txt", before + b"\nthe passage\n" + behind)
        world.ctx.files.note(path)
        failed = _run(world, "edit_file", path="a.txt", old_string="the passage", new_string="another")
        now = path.read_bytes()
    assert now == before + (b"\nthe passage\n" if failed else b"\nanother\n") + behind


GARBAGE = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=30), st.lists(st.integers(), max_size=3))
PATCH_LINE = st.one_of(
    st.sampled_from(
        [
            "*** Begin Patch",
            "*** End Patch",
            "*** Add File: new.txt",
            "*** Update File: a.txt",
            "*** Delete File: a.txt",
        ]
    ),
    st.sampled_from(
        ["*** Move to: b.txt", "@@", "@@ a", " a", "-a", "+b", "", "*** End of File", "-", "+", "***", "x"]
    ),
    st.text(max_size=8),
)
PATCH = st.lists(PATCH_LINE, max_size=12).map(lambda lines: "\n".join(["*** Begin Patch", *lines, "*** End Patch"]))
ARGUMENTS = {
    "edit_file": {
        "path": st.sampled_from(["a.txt", "gone", "", "sub", "\0"]) | GARBAGE,
        "old_string": st.sampled_from(["a", "a\n", " ", "\n", "1\ta"]) | GARBAGE,
        "new_string": GARBAGE,
        "replace_all": GARBAGE,
    },
    "write_file": {"path": st.sampled_from(["a.txt", "sub", "a.txt/b", "n.py"]) | GARBAGE, "content": GARBAGE},
    "apply_patch": {"patch": PATCH | GARBAGE},
}


@pytest.mark.parametrize("name", ARGUMENTS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
async def test_whatever_the_arguments_there_is_a_bounded_answer(name: str, data: st.DataObject) -> None:
    arguments = data.draw(st.fixed_dictionaries({}, optional=ARGUMENTS[name]))
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        world.file("a.txt", "a\nb\na\n")
        world.file("sub/c.txt", "c\n")
        world.ctx.files.note(world.top / "a.txt")
        result = await world.toolbox.run(ToolCall("c1", name, json.dumps(arguments)), world.ctx)
    assert result.summary != "broke", result.text
    assert 0 < len(result.text) < 40_000


# ---- all or nothing ------------------------------------------------------------------------------------------------


def test_changes_that_fail_midway_are_taken_back(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    a.write_text("a")
    b.write_text("b")
    (tmp_path / "c").mkdir()
    changes = [Change(a, b"A"), Change(tmp_path / "new" / "d", b"d"), Change(b, None), Change(c, b"no file there")]
    with pytest.raises(OSError):
        write_together(changes)
    assert sorted((path.name, path.is_dir() or path.read_text()) for path in tmp_path.iterdir()) == [
        ("a", "a"),
        ("b", "b"),
        ("c", True),
    ]


def test_all_changes_are_made_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("a")
    a.chmod(0o750)
    b.write_text("b")
    write_together([Change(a, None), Change(tmp_path / "c", b"A", like=a), Change(b, b"B")])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b": "B", "c": "A"}
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("wait", [0.0, 0.02, 0.05])
def test_a_kill_in_the_middle_leaves_the_old_or_the_new_file_whole(tmp_path: Path, wait: float) -> None:
    path = tmp_path / "a"
    old, new = b"o" * 3_000_000, b"n" * 3_000_000
    path.write_bytes(old)
    script = (
        "import itertools, pathlib, sys; from codeagent.tools.writing import write_atomic\n"
        "path = pathlib.Path(sys.argv[1]); print(flush=True)\n"
        "for n in itertools.count(): write_atomic(path, (b'n', b'o')[n % 2] * 3_000_000)"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    try:
        child.wait(wait)
    except subprocess.TimeoutExpired:
        os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert path.read_bytes() in (old, new)


def test_what_a_killed_process_left_is_swept_at_the_next_write(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, signal, sys; from codeagent.tools.writing import Change, write_together\n"
        "def changes():\n"
        "    yield Change(pathlib.Path(sys.argv[1], 'a'), b'new')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_together(changes())"
    )
    child = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert child.returncode == -signal.SIGKILL
    (left,) = (path.name for path in tmp_path.iterdir())
    alive = tmp_path / left.replace(left.split("-")[2], str(os.getpid()))
    alive.write_bytes(b"being written")
    write_together([Change(tmp_path / "b", b"b")])
    assert {path.name for path in tmp_path.iterdir()} == {"b", alive.name}


def test_a_passage_that_stands_very_often_is_counted_quickly() -> None:
    text = "ab\n" * 50_000
    edit = apply_edit(text, "ab", "c", every=True)
    assert isinstance(edit, Edited)
    assert (edit.count, edit.text) == (50_000, "c\n" * 50_000)
    lines = getattr(apply_edit(text, "ab", "c"), "lines", ())
    assert list(itertools.islice(lines, 3)) == [1, 2, 3]
