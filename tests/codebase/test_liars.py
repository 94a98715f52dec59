"""Files that are not what they seem: none of them stops the others from being found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from codeagent.codebase.disk import look, read
from tests.codebase.ground import Ground, told

GOOD = "def marker(): pass\n"


async def test_liars_are_passed_over(ground: Ground) -> None:
    ground.write("good.py", GOOD)
    ground.write("binary.py", b"\x7fELF\0\0\0marker\0" * 50)
    ground.write("endless.py", b"marker = '" + b"x" * 50_000_000 + b"'\n")
    ground.write("long_line.py", "marker = '" + "x" * 300_000 + "'\n")
    ground.write("empty.py", "")
    (ground.top / "loop").symlink_to(ground.top)
    (ground.top / "link.py").symlink_to(ground.top / "good.py")
    (ground.top / "nowhere.py").symlink_to("/nonexistent/marker.py")
    os.mkfifo(ground.top / "pipe.py")
    (ground.top / "folder.py").mkdir()
    code = ground.code()
    assert told(await code.search("marker")) == ["good.py marker"]
    status = await code.status()
    assert dict(status.left_out) == {"binary": 1, "generated": 1, "large": 1}


async def test_other_encodings_are_read(ground: Ground) -> None:
    text = "def marker():\n    # 读取配置文件，然后重试三次，最后返回结果\n    pass\n"
    ground.write("gbk.py", text.encode("gbk"))
    ground.write("utf16.py", text.encode("utf-16"))
    ground.write("bom.py", b"\xef\xbb\xbf" + text.encode())
    ground.write("mixed.py", b"# caf\xe9 \xff\xfe\ndef marker(): pass\n")
    found = await ground.code().search("读取配置文件")
    assert sorted(told(found)) == ["bom.py marker", "gbk.py marker", "utf16.py marker"]
    assert "mixed.py marker" in await ground.find("marker")


async def test_names_of_files_that_are_no_text_are_passed_over(ground: Ground) -> None:
    ground.write("good.py", GOOD)
    Path(os.fsdecode(os.fsencode(ground.top) + b"/bad\xff.py")).write_text(GOOD)
    ground.write("带 空格\n换行.py", GOOD)
    assert sorted(await ground.find("marker")) == ["good.py marker", "带 空格\n换行.py marker"]


def test_a_file_that_vanishes_while_it_is_read(ground: Ground) -> None:
    ground.write("a.py", GOOD)
    seen = look(ground.top, "a.py")
    assert seen is not None
    (ground.top / "a.py").unlink()
    assert read(ground.top, seen) == (seen, b"", "unreadable")
    assert look(ground.top, "a.py") is None


def test_a_file_that_turns_into_something_else_is_not_waited_for(ground: Ground) -> None:
    ground.write("a.py", GOOD)
    seen = look(ground.top, "a.py")
    assert seen is not None
    (ground.top / "a.py").unlink()
    os.mkfifo(ground.top / "a.py")
    assert read(ground.top, seen)[1:] == (b"", "")
    (ground.top / "a.py").unlink()
    (ground.top / "a.py").symlink_to("/etc/passwd")
    assert read(ground.top, seen)[1:] == (b"", "unreadable")


BY_NOBODY = """
import os, sys
from pathlib import Path
from codeagent.codebase.build import Builder
from codeagent.codebase.store import CodeStore
top, path = map(Path, sys.argv[1:])
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
builder = Builder(CodeStore(path), lambda data: data.decode())
print(builder.update(top, ["a.py", "b.py"]).added)
print(builder.update(top, ["a.py", "b.py"]).added)
(top / "b.py").chmod(0o644)
print(builder.update(top, ["a.py", "b.py"]).added)
"""


def test_a_file_that_may_not_be_read_is_left_out_until_it_may(ground: Ground) -> None:
    """In a process without the rights of an administrator, who may read everything."""
    ground.write("a.py", GOOD)
    ground.write("b.py", GOOD).chmod(0)
    for path in (ground.base, ground.top, *ground.top.iterdir()):
        if os.getuid() == 0:
            os.chown(path, 65534, 65534)
    for parent in (*ground.base.parents[:-2],):
        parent.chmod(parent.stat().st_mode | 0o011)
    done = subprocess.run(
        [sys.executable, "-c", BY_NOBODY, ground.top, ground.home.code], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["2", "0", "1"], "")
