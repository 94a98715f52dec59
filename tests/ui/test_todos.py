from __future__ import annotations

import pytest

from codeagent.core.todo import Todo
from codeagent.ui.rows import text_of, width
from codeagent.ui.todos import todo_rows

LIST = (Todo("读代码，找出错误", "done"), Todo("write the\x1b[2J test", "in_progress"), Todo("run it"))


def test_the_list_has_a_row_for_each_step() -> None:
    assert text_of(todo_rows(LIST, 40, folded=False)).split("\n") == [
        "Todo 1/3 · Ctrl-T folds",
        "  ☑ 读代码，找出错误",
        "  ▸ write the^[[2J test",
        "  ☐ run it",
    ]


def test_folded_it_is_one_row() -> None:
    assert text_of(todo_rows(LIST, 40, folded=True)) == "▸ Todo 1/3 · write the^[[2J test"


@pytest.mark.parametrize("items", [(), (Todo("a", "done"), Todo("b", "done"))])
def test_nothing_is_shown_where_nothing_is_left(items: tuple[Todo, ...]) -> None:
    assert todo_rows(items, 40, folded=False) == todo_rows(items, 40, folded=True) == []


def test_of_a_long_list_the_steps_around_the_current_one_are_shown() -> None:
    items = [Todo(f"step {number}", "done" if number < 20 else "pending") for number in range(1, 31)]
    rows = text_of(todo_rows(items, 60, folded=False)).split("\n")
    assert rows[0] == "Todo 19/30 · Ctrl-T folds · 16–23 shown"
    assert rows[1:] == [
        *(f"  ☑ step {number}" for number in range(16, 20)),
        *(f"  ☐ step {number}" for number in range(20, 24)),
    ]


@pytest.mark.parametrize("cells", [12, 39])
@pytest.mark.parametrize("folded", [False, True])
def test_no_row_is_too_wide(cells: int, folded: bool) -> None:
    items = [Todo("把解析器的错误全部改掉，然后跑测试" * 3, "in_progress"), Todo("x" * 200)]
    for row in text_of(todo_rows(items, cells, folded=folded)).split("\n"):
        assert width(row) <= cells
