"""The index keeps like the files: what changed is read, nothing else is."""

from __future__ import annotations

import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from codeagent.codebase.build import Outcome, Progress
from codeagent.codebase.disk import LARGEST
from codeagent.codebase.roots import lease
from tests.codebase.ground import LONG_AGO, Ground


def indexed(ground: Ground) -> dict[str, list[str]]:
    """What the index holds: symbols by path."""
    found: dict[str, list[str]] = {}
    with ground.store.open() as db:
        for path, symbol in db.execute(
            "SELECT path, symbol FROM files LEFT JOIN chunks ON chunks.file = files.id ORDER BY path, first"
        ):
            found.setdefault(path, []).append(symbol)
    return found


def left_out(ground: Ground) -> dict[str, str]:
    with ground.store.open() as db:
        return dict(db.execute("SELECT path, left_out FROM files WHERE left_out != '' ORDER BY path"))


def test_only_what_changed_is_read(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.write("b.py", "def two(): pass\n")
    read: list[bytes] = []
    assert ground.update(read=read) == Outcome(2, 0, 0)
    ground.write("a.py", "def other(): pass\n")
    del read[:]
    assert ground.update(read=read) == Outcome(1, 0, 0)
    assert (read, indexed(ground)) == ([b"def other(): pass\n"], {"a.py": ["other"], "b.py": ["two"]})


def test_a_copy_as_long_and_as_old_as_what_it_replaces_is_seen(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    ground.write("a.py", "def two(): pass\n")
    assert (ground.update(), indexed(ground)) == (Outcome(1, 0, 0), {"a.py": ["two"]})


def test_what_may_not_be_read_any_more_goes(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    (ground.top / "a.py").unlink()
    (ground.top / "a.py").mkdir()
    ground.update()
    assert indexed(ground) == {}


@pytest.mark.parametrize("odd", ["\f", "s = 'a\u2028b'", "\x1c", "\x85"])
def test_lines_are_numbered_as_editors_do(ground: Ground, odd: str) -> None:
    ground.write("a.py", f"{odd}\n{odd}\ndef one(): pass\n")
    ground.write("b.md", f"{odd}\n{odd}\n# 标题\n")
    ground.update()
    with ground.store.open() as db:
        rows = db.execute("SELECT symbol, line FROM chunks WHERE symbol != '' ORDER BY symbol").fetchall()
    assert [line for _, line in rows] == [3] * len(rows) and len(rows) >= 1


def test_a_file_that_was_touched_is_compared_by_its_content(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.write("b.bin", b"\0\1\2")
    ground.update()
    os.utime(ground.top / "a.py", (LONG_AGO + 9, LONG_AGO + 9))
    os.utime(ground.top / "b.bin", (LONG_AGO + 9, LONG_AGO + 9))
    read: list[bytes] = []
    assert (ground.update(read=read), read, left_out(ground)) == (Outcome(0, 0, 0), [], {"b.bin": "binary"})


def test_a_file_changed_just_now_is_looked_at_once_more(ground: Ground) -> None:
    """A change within the grain of the time stamp is not lost."""
    file = ground.top / "a.py"
    file.write_text("def one(): pass\n")
    about = file.stat()
    ground.update()
    file.write_text("def two(): pass\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    ground.update()
    assert indexed(ground) == {"a.py": ["two"]}


def test_deleted_files_leave(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.write("b.py", "def two(): pass\n").unlink()
    ground.write("c.py", "def three(): pass\n")
    ground.update()
    (ground.top / "c.py").unlink()
    assert (ground.update(), indexed(ground)) == (Outcome(0, 1, 0), {"a.py": ["one"]})


def test_parts_that_are_as_they_were_keep_their_rows(ground: Ground) -> None:
    ground.write("a.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    ground.update()
    with ground.store.open() as db:
        before = dict(db.execute("SELECT symbol, id FROM chunks"))
    ground.write("a.py", "# top\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 22\n")
    ground.update()
    with ground.store.open() as db:
        now = dict(db.execute("SELECT symbol, id FROM chunks"))
        lines = db.execute("SELECT first, last FROM chunks WHERE symbol = 'one'").fetchone()
    assert (now["one"] == before["one"], now["two"] == before["two"], lines) == (True, False, (4, 5))


def test_a_moved_folder_keeps_its_index(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    ground.top = ground.top.rename(ground.base / "renamed")
    read: list[bytes] = []
    assert (ground.update(read=read), read, indexed(ground)) == (Outcome(0, 0, 0), [], {"a.py": ["one"]})


def test_another_folder_in_its_place_is_read(ground: Ground) -> None:
    """Even where sizes and time stamps are those of the files before."""
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    ground.top.rename(ground.base / "elsewhere")
    ground.top.mkdir()
    ground.write("a.py", "def two(): pass\n")
    assert (ground.update(), indexed(ground)) == (Outcome(1, 0, 0), {"a.py": ["two"]})


def test_what_is_data_or_generated_is_left_out_and_said(ground: Ground) -> None:
    ground.write("big.py", b"x = 1\n" * (LARGEST // 6 + 1))
    ground.write("data.json", b'{"key": "value"}\n' * 10_000)
    ground.write("small.json", '{"key": 1}\n')
    ground.write("app.min.js", "function a(){}\n")
    ground.write("package-lock.json", "{}\n")
    ground.write("bundle.js", "function a(){};" * 2_000)
    ground.write("photo.py", b"\x89PNG\0\0")
    ground.update()
    assert left_out(ground) == {
        "app.min.js": "generated",
        "big.py": "large",
        "bundle.js": "generated",
        "data.json": "large",
        "package-lock.json": "generated",
        "photo.py": "binary",
    }


def test_a_file_that_grew_too_large_is_found_no_more(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    ground.write("a.py", b"def one(): pass\n" * 70_000)
    ground.update()
    assert (indexed(ground), left_out(ground)) == ({"a.py": [None]}, {"a.py": "large"})


def test_an_interrupted_update_goes_on_where_it_was(ground: Ground) -> None:
    for number in range(100):
        ground.write(f"f{number:02}.py", f"def f{number}(): pass\n")
    paths = [f"f{number:02}.py" for number in range(100)]
    asked = count()
    told: list[Progress] = []
    first = ground.builder().update(ground.top, paths, lambda: next(asked) == 1, told.append)
    read: list[bytes] = []
    assert (first, told) == (Outcome(40, 0, 60), [Progress(0, 100), Progress(40, 100)])
    assert (ground.update(paths, read), len(read), len(indexed(ground))) == (Outcome(60, 0, 0), 60, 100)


def test_terms_that_belong_to_nothing_are_swept_out(ground: Ground) -> None:
    """A file that changes again and again does not let the database grow."""
    functions = "".join(f"def f{number}():\n    return VALUE\n\n" for number in range(700))
    most = 0
    for round in range(10):
        ground.write("a.py", functions.replace("VALUE", str(round)), when=LONG_AGO + round)
        ground.update()
        with ground.store.open() as db:
            most = max(most, db.execute("SELECT count(*) FROM terms").fetchone()[0])
    assert most <= 2 * 700 + 2_000 + 700
    assert indexed(ground) == {"a.py": [f"f{number}" for number in range(700)]}


def test_two_roots_do_not_mix(ground: Ground) -> None:
    other = ground.base / "other"
    other.mkdir()
    (other / "a.py").write_text("def theirs(): pass\n")
    ground.write("a.py", "def ours(): pass\n")
    ground.update()
    ground.builder().update(other, ["a.py"])
    ground.builder().update(other, [])
    assert indexed(ground) == {"a.py": ["ours"]}


def held(ground: Ground) -> dict[str, int]:
    """Folders that the index knows, by name, and how many parts of files it holds of each."""
    with ground.store.open() as db:
        return {
            Path(path).name: count
            for path, count in db.execute(
                "SELECT roots.path, count(chunks.id) FROM roots LEFT JOIN files ON files.root = roots.id"
                " LEFT JOIN chunks ON chunks.file = files.id GROUP BY roots.id"
            )
        }


def days_ago(ground: Ground, days: int) -> None:
    """As if nobody had asked for so long."""
    with ground.store.open() as db:
        db.execute("UPDATE roots SET used = unixepoch() - ?", (days * 86_400,))


def test_folders_that_are_long_gone_or_unused_are_forgotten(ground: Ground) -> None:
    for name in ("gone", "there"):
        (ground.base / name).mkdir()
        (ground.base / name / "a.py").write_text("def theirs(): pass\n")
        ground.builder().update(ground.base / name, ["a.py"])
    (ground.base / "gone").rename(ground.base / "away")
    ground.write("a.py", "def ours(): pass\n")
    days_ago(ground, 10)
    ground.update()
    assert held(ground) == {"gone": 1, "there": 1, "项目": 1}  # it may come back
    days_ago(ground, 20)
    ground.update()
    assert held(ground) == {"there": 1, "项目": 1}
    days_ago(ground, 200)
    ground.update()
    assert held(ground) == {"项目": 1}


def test_while_another_process_writes_nothing_is_written(ground: Ground) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update([])
    with ground.store.open() as db:
        db.execute("INSERT INTO writer SELECT id, ?, unixepoch() + 20 FROM roots", (os.getppid(),))
    assert ground.update() == Outcome(0, 0, 1, by_other=True)
    with ground.store.open() as db:
        db.execute("UPDATE writer SET until = unixepoch() - 1")
    assert ground.update() == Outcome(1, 0, 0)  # it has given no sign for long


def test_a_lease_renewed_while_we_wait_for_the_lock_is_not_taken(ground: Ground) -> None:
    ground.update([])
    with ground.store.open() as theirs, ThreadPoolExecutor(1) as thread:
        (root,) = theirs.execute("SELECT id FROM roots").fetchone()
        theirs.execute("BEGIN IMMEDIATE")

        def ask() -> bool:
            with ground.store.open() as ours:
                return lease(ours, root)

        asked = thread.submit(ask)
        time.sleep(0.5)
        theirs.execute("INSERT INTO writer VALUES (?, ?, ?)", (root, os.getppid(), time.time() + 30))
        theirs.execute("COMMIT")
        assert asked.result() is False


def test_the_index_is_private(ground: Ground, tmp_path: Path) -> None:
    ground.write("a.py", "def one(): pass\n")
    ground.update()
    with ground.store.open() as db:
        assert isinstance(db, sqlite3.Connection)
        modes = {path.name: path.stat().st_mode & 0o777 for path in ground.home.code.parent.iterdir()}
    assert (set(modes.values()), ground.home.code.parent.stat().st_mode & 0o777) == ({0o600}, 0o700)
