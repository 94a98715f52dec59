"""Rows: measured in cells, cut and wrapped so that they fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.display import plain, visible
from codeagent.ui.rows import chop, fit, fit_path, pad, row_width, text_of, width, wrap, wrap_text

LINES = st.text(st.sampled_from("ab ，。中文字（）😀-_/é\t"), max_size=80)


@given(LINES, st.integers(4, 60))
def test_wrapping_fits_and_keeps_every_word(text: str, cells: int) -> None:
    rows = wrap([("x", text[:10]), ("y", text[10:])], cells, [("", "> ")], [("", "  ")])
    assert all(row_width(row) <= cells for row in rows)
    assert "".join(text_of([row[1:]]) for row in rows).replace(" ", "") == text.replace("\t", "").replace(" ", "")


@given(LINES, st.integers(4, 60))
def test_chopping_loses_nothing(text: str, cells: int) -> None:
    rows = chop([("", text)], cells)
    assert all(row_width(row) <= cells for row in rows)
    assert "".join(text_of([row]) for row in rows) == text.replace("\t", "    ")


@given(LINES, st.integers(0, 40))
def test_cutting_fits(text: str, cells: int) -> None:
    assert width(fit(text, cells)) <= cells
    assert width(fit_path(text.replace("\t", ""), cells)) <= cells
    assert width(pad(text, cells)) == cells


def test_cutting_tells_so() -> None:
    assert [fit("记忆系统", 5), fit("abc", 3), fit_path("src/deep/file.py", 9), fit("abc", 0)] == [
        "记忆…",
        "abc",
        "…/file.py",
        "",
    ]


def test_lines_are_wrapped_one_by_one() -> None:
    assert text_of(wrap_text("one two\nthree", 7, first=[("", "- ")], rest=[("", "  ")])).split("\n") == [
        "- one",
        "  two",
        "  three",
    ]


def test_text_of_others_is_shown_and_not_obeyed() -> None:
    assert visible("a\x1b[31mb\x07\tc\nd\r\ne\rf\x9bg\u202eh\x7f\ud800中文😀") == (
        "a^[[31mb^G\tc\nd\ne^Mf⟨9b⟩g⟨202e⟩h^?\ufffd中文😀"
    )
    assert plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B\x1b") == "red link^["


@given(st.text())
def test_nothing_that_moves_a_terminal_is_left(text: str) -> None:
    for shown in (visible(text), plain(text)):
        assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in shown)


def test_a_long_word_keeps_to_the_width_also_where_further_rows_are_set_in() -> None:
    assert [row_width(row) for row in wrap([("", "x" * 30)], 12, (), [("", "  ")])] == [10, 12, 12]
