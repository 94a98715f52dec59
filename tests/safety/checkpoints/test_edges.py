from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.safety.checkpoints.restore import Refused
from codeagent.safety.checkpoints.store import Store
from tests.safety.checkpoints.world import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ---- whatever happens, it comes back -------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "d/a", "d/e/b", "中/文", "d"])
COMMANDS = st.one_of(
    st.builds("mkdir -p {0} && echo {1} > {0}/f".format, NAMES, st.integers(0, 3)),
    st.builds("mkdir -p $(dirname {0}); echo {1} > {0}".format, NAMES, st.integers(0, 3)),
    st.builds("rm -rf {0}".format, NAMES),
    st.builds("mv -T {0} {1}".format, NAMES, NAMES),
    st.builds("cp -r {0} {1}".format, NAMES, NAMES),
    st.builds("ln -sfn {0} {1}".format, NAMES, NAMES),
    st.builds("chmod {0} {1}".format, st.sampled_from(["700", "755", "644"]), NAMES),
    st.builds("printf {0} >> {1}".format, st.integers(0, 3), NAMES),
)


@given(turns=st.lists(st.lists(COMMANDS, min_size=1, max_size=3), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_sequence_of_commands_goes_back_and_forth(
    tmp_path_factory: pytest.TempPathFactory, turns: list[list[str]]
) -> None:
    place = Place(tmp_path_factory.mktemp("any"))

    async def all_of_it() -> None:
        place.file("a", "first")
        place.file("d/e/b", "second", 0o600)
        states = [place.tree(times=False)]
        for number, commands in enumerate(turns, 1):
            place.book.turn = number
            for command in commands:
                await place.run(command)
            if place.tree(times=False) != states[-1]:
                states.append(place.tree(times=False))
            else:  # nothing came of it in the end
                while (plan := await place.saved.back.undoing()) and plan.turns == (number,):
                    await place.saved.back.carry_out(plan, over=False)
        for state in reversed(states[:-1]):
            await place.undo()
            assert place.tree(times=False) == state
        for state in states[1:]:
            await place.redo()
            assert place.tree(times=False) == state

    asyncio.run(all_of_it())


# ---- the person's own work -----------------------------------------------------------------------------------------


async def test_a_file_changed_since_is_left_alone_or_kept_for_redo(place: Place) -> None:
    a, b = place.file("a", "1"), place.file("b", "1")
    await place.run("echo 2 > a; echo 2 > b")
    a.write_text("mine")
    restored = await place.undo()
    assert restored is not None and restored.left == (str(a),)
    assert (a.read_text(), b.read_text()) == ("mine", "1")
    await place.redo()
    assert (a.read_text(), b.read_text()) == ("mine", "2\n")


async def test_a_change_between_two_tools_of_one_turn_is_another_hands(place: Place) -> None:
    a = place.file("a", "1")
    await place.run("echo 2 > a")
    a.write_text("mine")
    await place.run("echo 3 >> a")
    plan = await place.saved.back.undoing()
    assert plan is not None and plan.foreign == {str(a)}
    await place.saved.back.carry_out(plan, over=True)
    assert a.read_text() == "1"
    await place.redo()
    assert a.read_text() == "mine3\n"


async def test_a_file_laid_into_a_new_folder_stays_with_it(place: Place) -> None:
    await place.run("mkdir d; echo 1 > d/a")
    place.file("d/mine", "m")
    await place.undo()
    assert place.tree().keys() == {"d", "d/mine"}


async def test_what_git_keeps_for_itself_is_untouched(place: Place) -> None:
    place.shell("git init -q && echo 1 > a && git add a && git commit -qm one && echo 2 > a && git add a && echo 3 > a")

    def own() -> dict[str, bytes]:
        files = (path for path in sorted((place.top / ".git").rglob("*")) if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    await place.run("echo 4 > a")
    before = own()
    await place.undo()
    assert own() == before
    assert (place.top / "a").read_text() == "3\n"


# ---- edits ---------------------------------------------------------------------------------------------------------


async def test_an_edit_saves_the_touched_files_and_the_folders_that_it_makes(place: Place) -> None:
    a = place.file("a", "1")
    before = place.tree()

    def change() -> None:
        a.unlink()
        place.file("new/deep/b", "1")

    await place.edit(change, "a", "new/deep/b")
    assert place.book.rows[0]["files"] == [str(place.top / name) for name in ("a", "new", "new/deep", "new/deep/b")]
    await place.undo()
    assert place.tree() == before


async def test_what_only_looks_or_changes_nothing_leaves_no_record(place: Place) -> None:
    place.file("a", "1")
    await place.run("ls")
    assert not (place.home / "store.db").exists()
    await place.run("cat a")
    assert place.book.rows == []
    assert await place.undo() is None


# ---- bounds --------------------------------------------------------------------------------------------------------


async def test_what_is_too_large_is_told_and_not_lost_by_going_back(tmp_path: Path) -> None:
    place = Place(tmp_path, limit=100)
    place.file("big", "x" * 200)
    await place.run("mv big ..; head -c 300 /dev/zero > huge; echo 1 > small")
    restored = await place.undo()
    assert restored is not None
    assert set(restored.refused) == {
        Refused(str(place.top / "big"), "its content was not kept: too large, or not readable"),
        Refused(str(place.top / "huge"), "it is too large to be kept"),
    }
    assert place.tree().keys() == {"huge"}


async def test_the_store_stays_within_its_bound_and_the_oldest_go_first(tmp_path: Path) -> None:
    place = Place(tmp_path, bound=300_000)
    for number in range(8):
        place.book.turn = number
        data = os.urandom(80_000)
        await place.edit(lambda data=data: place.file("a", data), "a")  # type: ignore[misc]
    assert (place.home / "store.db").stat().st_size < 1_000_000
    restored = await place.undo()
    assert restored is not None and len(restored.done) == 1
    outcomes = [await place.undo() for _ in range(7)]
    assert outcomes[-1] is None or not outcomes[-1].done


async def test_too_many_files_are_told_once_and_edits_are_still_saved(tmp_path: Path) -> None:
    place = Place(tmp_path, most=3)
    for name in "abcd":
        place.file(name, "1")
    await place.run("sed -i s/1/2/ a")
    await place.run("sed -i s/1/2/ b")
    assert [notice.message for notice in place.told] == [
        "This folder holds too many files: what commands change in it cannot be taken back."
    ]
    await place.edit(lambda: place.file("c", "2"), "c")
    await place.undo()
    assert [(place.top / name).read_text() for name in "abc"] == ["2", "2", "1"]


async def test_files_that_vanish_or_cannot_be_read_do_no_harm(place: Place) -> None:
    os.mkfifo(place.top / "pipe")
    place.file("secret", "s", 0o000)
    place.file("a", "1")
    await place.run("rm pipe a; chmod 600 secret")
    restored = await place.undo()
    assert restored is not None
    assert [one.path for one in restored.refused] == [str(place.top / "pipe")]
    assert (place.top / "a").read_text() == "1"


async def test_a_damaged_store_is_set_aside(place: Place) -> None:
    place.home.mkdir()
    (place.home / "store.db").write_bytes(b"garbage" * 1000)
    a = place.file("a", "1")
    await place.edit(lambda: a.write_text("2"), "a")
    await place.undo()
    assert a.read_text() == "1"
    assert (place.home / "store.damaged").exists()


async def test_a_store_that_cannot_be_opened_stops_no_tool(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    place = Place(tmp_path)
    await place.run("echo 1 > a")
    assert (place.top / "a").read_text() == "1\n"
    assert [notice.message.partition(":")[0] for notice in place.told] == [
        "No checkpoint was made, the next change cannot be taken back"
    ]


# ---- a new process -------------------------------------------------------------------------------------------------


async def test_another_process_goes_back_and_knows_what_it_has_seen(place: Place) -> None:
    place.file("a", "1")
    await place.run("echo 2 > a; echo 1 > b")
    place.saved.close()
    place.open()
    await place.run("echo 3 > b")
    await place.undo()
    assert [path.name for path in place.top.iterdir()] == ["a"]
    assert (place.top / "a").read_text() == "1"


async def test_an_interrupted_command_is_recorded(place: Place) -> None:
    a = place.file("a", "1")

    async def slow() -> None:
        async with place.saved.around(place.action("sleep")):
            a.write_text("2")
            await asyncio.Event().wait()

    task = asyncio.create_task(slow())
    while a.read_text() != "2":
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    await place.undo()
    assert a.read_text() == "1"


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from codeagent.core.tools import Action
    from tests.safety.checkpoints.world import Place

    async def main():
        place = Place(Path(sys.argv[1]))
        edit = Action("edit_file", "edit", str(place.top / "a"), "Edit")
        async with place.saved.around(edit if sys.argv[2] == "edit" else place.action("kill")):
            (place.top / "a").write_text("2")
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["run", "edit"])
async def test_what_a_killed_process_had_begun_can_be_taken_back(place: Place, how: str) -> None:
    a = place.file("a", "1")
    place.file("b", "1")
    script = textwrap.dedent(KILLED)
    killed = subprocess.run([sys.executable, "-c", script, str(place.top.parent), how], capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert a.read_text() == "2"
    await place.undo()
    assert a.read_text() == "1"
    assert [row["kind"] for row in place.book.rows] == ["change", "undo"]


async def test_going_back_that_was_cut_short_is_ended_by_going_back_again(place: Place) -> None:
    place.file("a", "1")
    place.file("b", "1")
    before = place.tree()
    await place.run("echo 2 > a; echo 2 > b")
    old = place.tree()
    (place.top / "a").write_text("1")  # as far as the one that was killed had come
    os.utime(place.top / "a", ns=(1, before["a"][2]))  # type: ignore[index]
    restored = await place.undo()
    assert restored is not None and [one.path for one in restored.done] == [str(place.top / "b")]
    assert place.tree() == before != old


def test_several_processes_share_a_store(tmp_path: Path) -> None:
    one, other = (Store(tmp_path / "s.db", 1_000_000) for _ in range(2))
    with one:
        name = one.put(b"x" * 100)
    assert other.get(name) == b"x" * 100
    with other:
        other.put(b"y")
    with one:
        one.put(b"y")
    assert one.get(name) == b"x" * 100
