"""Files are written where they were meant to be, whoever swaps a folder for a link meanwhile."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeagent.tools.holding import open_held
from codeagent.tools.writing import Change, write_atomic, write_together


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder that all the time is now a folder, now a link to one outside; and that one."""
    top, outside = tmp_path.resolve() / "project", tmp_path.resolve() / "outside"
    (top / "d").mkdir(parents=True)
    outside.mkdir()
    (top / "link").symlink_to(outside)
    (outside / "secret").write_text("SECRET")
    (top / "d" / "secret").write_text("fine")
    done = threading.Event()

    def swap() -> None:
        system = ctypes.CDLL(None)
        names = (os.fsencode(top / "d"), os.fsencode(top / "link"))
        while not done.is_set():
            system.renameat2(-100, names[0], -100, names[1], 2)  # each takes the other's place, at once

    thread = threading.Thread(target=swap)
    thread.start()
    yield top / "d", outside
    done.set()
    thread.join()


def test_nothing_is_written_through_a_link_that_was_swapped_in(swapped: tuple[Path, Path]) -> None:
    folder, outside = swapped
    came = dict.fromkeys(("written", "refused"), 0)
    for number in range(5_000):
        try:
            write_atomic(folder / f"f{number % 50}", b"x")
            came["written"] += 1
        except OSError as error:
            assert error.errno in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR)
            came["refused"] += 1
        if number > 300 and all(count > 20 for count in came.values()):
            break
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert all(came.values())


def test_nothing_is_read_through_a_link_that_was_swapped_in(swapped: tuple[Path, Path]) -> None:
    folder, _ = swapped
    read = set()
    for _ in range(1_000):
        try:
            with open_held(folder / "secret") as file:
                read.add(file.read())
        except OSError:
            continue
    assert read == {b"fine"}


def test_a_folder_that_is_a_link_by_now_is_told(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "outside").mkdir()
    (top / "d").symlink_to(top / "outside")
    with pytest.raises(OSError, match="A folder on the way has become a link") as told:
        write_atomic(top / "d" / "new" / "f", b"x")
    assert (told.value.errno, told.value.filename) == (errno.ELOOP, str(top / "d" / "new" / "f"))
    assert list((top / "outside").iterdir()) == []


def test_a_file_that_is_a_link_by_now_is_replaced_and_not_followed(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "outside").write_text("kept")
    (top / "f").symlink_to(top / "outside")
    write_atomic(top / "f", b"new")
    assert ((top / "outside").read_text(), (top / "f").read_text(), (top / "f").is_symlink()) == ("kept", "new", False)


def test_folders_made_for_nothing_are_taken_away(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        write_together([Change(top / "a" / "b" / "f", b"x"), Change(top / "file" / "g", b"x")])
    assert sorted(path.name for path in top.iterdir()) == ["file"]


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for number in range(20):
        write_atomic(tmp_path.resolve() / "a" / str(number), b"x")
    assert len(list(Path("/dev/fd").iterdir())) == before
