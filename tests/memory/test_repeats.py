"""What counts as done again, and when the model is reminded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.core.messages import ToolCall
from codeagent.memory.repeats import Repeats, Tally


def made(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("c", name, json.dumps(arguments))


def read(path: str, **more: int) -> ToolCall:
    return made("read_file", path=path, **more)


def run(command: str, **more: str) -> ToolCall:
    return made("shell", command=command, **more)


def counted(*calls: ToolCall) -> Tally:
    repeats = Repeats("/src/项目")
    for call in calls:
        repeats.take(call)
    return repeats.before


@pytest.mark.parametrize(
    ("calls", "repeated"),
    [
        ([read("a.py"), read("./a.py"), read("/src/项目/a.py", offset=1, limit=2000)], 2),
        ([read("a.py"), read("b.py"), read("a.py", offset=2001), read("a.py", limit=10)], 0),
        ([run("make test"), run(" make test\n"), run("make test", cwd="."), run("make test", cwd="lib")], 2),
        ([read("a.py"), run("make"), made("edit_file", path="./a.py"), read("a.py"), run("make")], 0),
        ([read("a.py"), run("make"), made("write_file", path="b.py"), read("a.py"), run("make")], 1),
        ([read("a.py"), run("make"), made("apply_patch", patch="*** Begin Patch"), read("a.py"), run("make")], 0),
    ],
)
def test_the_same_once_more_with_nothing_edited_between_is_a_repeat(calls: list[ToolCall], repeated: int) -> None:
    deeds = sum(call.name in ("read_file", "shell") for call in calls)
    assert counted(*calls) == Tally(deeds, repeated)


def test_what_is_no_read_and_no_command_counts_nothing() -> None:
    broken = ToolCall("c", "read_file", '{"path": "a')
    odd = [made("read_file", path=7), made("shell"), ToolCall("c", "shell", "[1]"), made("grep", pattern="x")]
    assert counted(broken, *odd, *odd) == Tally()


def test_before_and_after_the_first_compaction_are_counted_apart() -> None:
    repeats = Repeats("/")
    for call in (read("a"), read("a"), read("b")):
        repeats.take(call)
    repeats.compacted()
    for call in (read("a"), read("c")):
        repeats.take(call)
    repeats.compacted()
    repeats.take(read("c"))
    assert (repeats.before, repeats.after) == (Tally(3, 1), Tally(3, 2))


def test_three_repeats_of_what_a_compaction_took_out_earn_one_reminder() -> None:
    repeats = Repeats("/")
    names = ["a", "b", "c", "d"]
    told: list[bool] = []
    for _ in range(3):
        for name in names:
            repeats.take(read(name))
            told.append(bool(repeats.reminder()))
        repeats.compacted()
    assert told == [False] * 4 + [False, False, True, False] * 2


def test_repeats_of_what_was_done_since_earn_none_and_neither_do_those_of_a_habit() -> None:
    polling = Repeats("/")
    polling.compacted()
    habit = Repeats("/")
    habit.take(run("git status"))
    for _ in range(9):
        polling.take(run("git status"))
        habit.take(run("git status"))
    for _ in range(3):
        habit.take(read("x"))
    for name in "abcdef":
        habit.take(read(name))
    habit.compacted()
    for name in "abcghijklm":
        habit.take(read(name))
    assert (polling.reminder(), habit.reminder()) == ("", "")


def test_what_was_cleared_is_not_done_again() -> None:
    repeats = Repeats("/")
    repeats.take(read("a"))
    repeats.cleared()
    repeats.take(read("a"))
    assert repeats.before == Tally(2, 0)
