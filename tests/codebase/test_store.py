"""The database: damaged, newer, full, killed, shared; never wrong."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.codebase.index import ProjectCode
from codeagent.codebase.store import VERSION
from codeagent.core.code import CodeHits
from codeagent.core.errors import StoreError
from tests.codebase.ground import Ground, told


async def filled(ground: Ground) -> None:
    ground.write("a.py", "def marker(): pass\n")
    assert await ground.find("marker") == ["a.py marker"]


@pytest.mark.parametrize("damage", ["not a database", "", "cut", "overwritten"])
async def test_a_damaged_database_is_made_anew(ground: Ground, damage: str) -> None:
    await filled(ground)
    path = ground.home.code
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "overwritten":
        path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    else:
        path.write_text(damage * 1_000)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    code, found = ground.code(), []
    for _ in range(2):  # what is found damaged in the middle of a question is said, and is sound the next time
        try:
            found = told(await code.search("marker"))
        except StoreError as error:
            assert str(path) in str(error)
    assert found == ["a.py marker"]


async def test_a_database_of_an_older_version_is_made_anew(ground: Ground) -> None:
    await filled(ground)
    with sqlite3.connect(ground.home.code) as db:
        db.execute(f"PRAGMA user_version = {VERSION - 1}")
        db.execute("DROP TABLE chunks")
    db.close()
    assert await ground.find("marker") == ["a.py marker"]


async def test_a_database_of_a_newer_version_is_left_alone(ground: Ground) -> None:
    await filled(ground)
    with sqlite3.connect(ground.home.code) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    before = ground.home.code.read_bytes()
    with pytest.raises(StoreError) as raised:
        await ground.find("marker")
    path = ground.home.code
    assert str(raised.value) == f"The code index {path} was made by a newer codeagent; it is left as it is."
    assert path.read_bytes() == before


async def test_a_folder_in_its_place_is_said(ground: Ground) -> None:
    ground.home.code.mkdir(parents=True)
    with pytest.raises(StoreError) as raised:
        await ground.find("marker")
    assert str(raised.value) == f"The code index {ground.home.code} cannot be used: Is a directory."


BUILD = """
import asyncio, os, resource, sys
from pathlib import Path
from codeagent.core.errors import StoreError
from codeagent.core.paths import Home
from codeagent.toolkit import make_code

home, top, room = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

def advance(done, total, what):
    print(done, flush=True)
    if room == 0 and done:
        sys.stdin.readline()  # stand still here

async def main():
    if room > 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    code = make_code(Home(home), (top,), {"HOME": str(top.parent)}, str.split, len)
    try:
        print("left", (await code.build(advance)).left)
        print(len((await code.search("marker")).hits))
    except StoreError as error:
        print(error)
    finally:
        await code.aclose()

asyncio.run(main())
"""


def building(ground: Ground, room: int) -> subprocess.Popen[str]:
    """A process of its own that builds the index; it stands still after the first files where `room` is 0."""
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, ground.home.root, ground.top, str(room)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def name(number: int) -> str:
    """A word for a number."""
    return "marker" + "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")


def many(ground: Ground, count: int = 100) -> None:
    for number in range(count):
        ground.write(f"f{number:03}.py", f"def {name(number)}():\n    return marker\n")


async def test_killed_in_the_middle_it_goes_on(ground: Ground) -> None:
    many(ground)
    with building(ground, 0) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["0\n", "40\n"]
        process.send_signal(signal.SIGKILL)
    with ground.store.open() as db:
        taken = db.execute("SELECT count(*) FROM files").fetchone()[0]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    built = await ground.code().build()
    assert (taken, built.added, built.left, built.by_other) == (40, 60, 0, False)
    assert (await ground.find(name(77))) == [f"f077.py {name(77)}"]


async def test_while_one_process_builds_another_answers_with_what_is_there(ground: Ground) -> None:
    many(ground)
    with building(ground, 0) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["0\n", "40\n"]
        code = ground.code()
        found = await code.search(name(77))
        missing = await code.search(name(7))
        built = await code.build()
        rest = process.communicate("\n" * 9)[0].split("\n")
    assert (told(found), found.left, told(missing)) == ([f"f077.py {name(77)}"], 60, [])
    assert (built.added, built.left, built.by_other) == (0, 60, True)
    assert (rest[:3], told(await code.search(name(77)))) == (["80", "100", "left 0"], [f"f077.py {name(77)}"])


def test_a_full_disk_is_said_and_harms_nothing(ground: Ground) -> None:
    many(ground, 400)
    with building(ground, 150_000) as process:
        told_last = process.communicate()[0].strip().split("\n")[-1]
    assert told_last.startswith(f"The code index {ground.home.code} cannot be used: ")
    with building(ground, -1) as process:
        assert process.communicate()[0].split("\n")[-3:] == ["left 0", "10", ""]


async def test_closing_ends_what_goes_on_behind(ground: Ground) -> None:
    many(ground, 400)
    code = ground.code()
    work = asyncio.create_task(code.build())
    while not ground.home.code.exists():  # until it has begun
        await asyncio.sleep(0.001)
    await code.aclose()
    built = await work
    assert (built.added + built.left, (await ground.code().build()).added) == (400, built.left)


async def test_a_search_does_not_wait_for_ever(ground: Ground) -> None:
    many(ground)
    going_on = asyncio.Event()

    async def listing(root: Path) -> list[str]:
        await going_on.wait()
        return sorted(path.name for path in root.iterdir())

    code = ProjectCode(ground.home.code, (ground.top,), listing, bytes.decode, str.split, len, patience=0.01)
    first = await code.search(name(77))
    going_on.set()
    await code.build()
    await code.aclose()
    second = await ground.code().search(name(77))
    assert (first, told(second), second.left) == (CodeHits((), 0, left=1), [f"f077.py {name(77)}"], 0)


async def test_a_file_where_its_folder_should_be_is_said(ground: Ground) -> None:
    ground.home.root.write_text("")
    with pytest.raises(StoreError) as raised:
        await ground.find("marker")
    assert str(raised.value) == f"The code index {ground.home.code} cannot be used: File exists."
