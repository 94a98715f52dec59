"""Diffs, calls, errors and other values as rows."""

from __future__ import annotations

import pytest

from codeagent.core.errors import AuthError
from codeagent.core.events import Notice, ToolFinished
from codeagent.core.messages import ToolCall
from codeagent.core.tools import Command, Diff, Patch, ToolResult
from codeagent.core.ui import Markdown, Table
from codeagent.ui.diff import count, diff_rows
from codeagent.ui.render import error_rows, expanded_rows, money, preview_rows, seconds, shown_rows, tokens, tool_rows
from codeagent.ui.rows import Row, row_width, text_of

LINES = [f"line {number}" for number in range(1, 41)]
BEFORE = "\n".join(LINES) + "\n"
CALL = ToolCall("c1", "shell", "{}")


def _lines(rows: list[Row]) -> list[str]:
    return [line.rstrip() for line in text_of(rows).split("\n")]


def test_a_diff_has_the_files_own_line_numbers() -> None:
    after = BEFORE.replace("line 3\n", "第三行\nnew\n").replace("line 30\n", "")
    diff = Diff("a.txt", BEFORE, after)
    assert str(count(diff)) == "+2 −2"
    assert _lines(diff_rows(diff, 40)) == [
        " 1   line 1",
        " 2   line 2",
        " 3 - line 3",
        " 3 + 第三行",
        " 4 + new",
        " 5   line 4",
        " 6   line 5",
        " 7   line 6",
        "   ⋮",
        "28   line 27",
        "29   line 28",
        "30   line 29",
        "30 - line 30",
        "31   line 31",
        "32   line 32",
        "33   line 33",
    ]


def test_new_deleted_equal_and_unended_files() -> None:
    assert _lines(preview_rows(Diff("n.py", None, "a\nb"), 40)) == ["n.py  new file", "1 + a", "2 + b"]
    assert _lines(preview_rows(Diff("n.py", "a\n", None), 40)) == ["n.py  deleted", "1 - a"]
    assert _lines(diff_rows(Diff("n.py", "a", "a"), 40)) == ["no change"]
    assert _lines(diff_rows(Diff("n.py", "a", "a\n"), 60)) == ["  \\ newline at the end of the file added"]
    assert _lines(diff_rows(Diff("n.py", "a\r\nb\r\n", "a\r\nc\r\n"), 60)) == ["1   a", "2 - b", "2 + c"]


@pytest.mark.parametrize("cells", [12, 20, 40, 79])
@pytest.mark.parametrize("most", [3, 5, 60])
def test_a_diff_fits_in_width_and_height(cells: int, most: int) -> None:
    rows = diff_rows(Diff("a", BEFORE, "记忆系统 " * 30 + "\x1b[2J\n" + BEFORE[40:]), cells, most)
    assert len(rows) <= most
    assert [row for row in rows if row_width(row) > max(cells, 30)] == []
    assert "\x1b" not in text_of(rows)


def test_a_cut_diff_says_how_much_is_left_out() -> None:
    assert _lines(diff_rows(Diff("a", None, BEFORE), 40, 4)) == [
        " 1 + line 1",
        " 2 + line 2",
        " 3 + line 3",
        "   … 37 more lines (Ctrl-O)",
    ]


def test_calls_settle_on_one_line() -> None:
    fine = ToolFinished(CALL, "Run pytest -q", ToolResult("x", summary="12 lines"), 2.34)
    failed = ToolFinished(CALL, "Run pytest -q", ToolResult("\n \x1b[31mE  boom\x1b[0m\nmore", failed=True), 0.01)
    program = ToolFinished(
        CALL, "Run make", ToolResult("a\nb\nc\n\n  d\ne\n[exit 2]", failed=True, summary="exit 2"), 0.01
    )
    denied = ToolFinished(CALL, "Run rm", ToolResult("no", failed=True, denied=True), 0)
    edited = ToolFinished(
        CALL, "Edit a.py", ToolResult("ok", display=Diff("a.py", "a\n", "b\n"), summary="+1 −1"), 0.01
    )
    assert _lines(tool_rows(fine, 60)) == ["● Run pytest -q  12 lines · 2.3 s"]
    assert _lines(tool_rows(failed, 60)) == ["✗ Run pytest -q  failed", "  E  boom"]
    assert _lines(tool_rows(program, 60)) == ["✗ Run make  exit 2", "  c", "    d", "  e"]
    assert _lines(tool_rows(denied, 60)) == ["⊘ Run rm  not permitted"]
    assert _lines(tool_rows(edited, 60)) == ["● Edit a.py  +1 −1", "  1 - a", "  1 + b"]
    assert _lines(tool_rows(fine, 32)) == ["● Run pytest …  12 lines · 2.3 s"]


def test_the_whole_of_a_call() -> None:
    event = ToolFinished(CALL, "Run x", ToolResult("one\n\x1b[1mtwo\x1b[0m"), 1)
    assert _lines(expanded_rows(event, 40)) == ["▾ Run x", "  one", "  two"]


def test_what_commands_show() -> None:
    assert _lines(shown_rows("a\x1b[2J", 40)) == ["a"]
    assert _lines(shown_rows(Markdown("**b**"), 40)) == ["b"]
    assert shown_rows(Notice("{n} left", {"n": 2}, "warning"), 40) == [[("class:warn", "2 left")]]
    assert _lines(shown_rows(Command("ls\nrm \u202ex", "/src"), 40)) == ["$ ls", "  rm ⟨202e⟩x", "in /src"]
    table = Table(("name", "what it is"), (("记忆", "long " * 8), ("x", "")))
    assert _lines(shown_rows(table, 30)) == [
        "name  what it is",
        "───── ────────────────────────",
        "记忆  long long long long long",
        "      long long long",
        "x",
    ]
    assert _lines(error_rows(AuthError("The key {k} was refused.", k="sk-…", hint="Run setup."), 40)) == [
        "✗ The key sk-… was refused.",
        "  Run setup.",
    ]


def test_numbers_for_people() -> None:
    assert [seconds(value) for value in (0.04, 9.94, 9.99, 59.4, 59.6, 3_725)] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "59 s",
        "1 min 00 s",
        "1 h 02 min",
    ]
    assert [tokens(value) for value in (0, 999, 1_000, 99_949, 99_951, 999_499, 2_500_000)] == [
        "0",
        "999",
        "1.0k",
        "99.9k",
        "100k",
        "999k",
        "2.5M",
    ]
    assert [money(value) for value in (0.0001, 0.002, 0.03, 12.345)] == ["<$0.001", "$0.002", "$0.03", "$12.35"]


def test_every_file_of_a_patch_is_shown() -> None:
    many = "".join(f"{n}\n" for n in range(30))
    patch = Patch((Diff("改.py", "a\n", "b\n"), Diff("new/n.py", "x\n", "y\n", "old.py"), Diff("m.txt", None, many)))
    heads = ["改.py  +1 −1", "old.py → new/n.py  +1 −1", "m.txt  new file"]
    whole = _lines(preview_rows(patch, 40))
    assert (len(whole), [line for line in whole if line in heads]) == (37, heads)
    short = _lines(preview_rows(patch, 40, 12))
    assert short[:7] == [heads[0], "1 - a", "1 + b", heads[1], "1 - x", "1 + y", heads[2]]
    assert (len(short), short[-1]) == (10, "   … 28 more lines (Ctrl-O)")
    done = ToolFinished(ToolCall("c", "apply_patch", "{}"), "Patch 3 files", ToolResult("Done", display=patch), 0.0)
    assert [line.strip() for line in _lines(tool_rows(done, 40)) if line.strip() in heads] == heads
