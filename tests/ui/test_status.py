"""The status line: one row at every width, the important part last to go."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.ui.rows import row_width, text_of
from codeagent.ui.status import Bar, branch, status_row

FULL = Bar("gpt-5.2-模型", 0.42, 0.8, "18.2k tokens", "$0.03", "accept-edits", "feature/记忆系统")


@pytest.mark.parametrize("cells", range(20, 201))
def test_it_never_wraps(cells: int) -> None:
    row = status_row(FULL, cells)
    assert 0 < row_width(row) <= cells
    assert "\n" not in text_of([row])


def test_the_less_important_goes_first() -> None:
    assert [text_of([status_row(FULL, cells)]) for cells in (100, 80, 60, 44, 30, 20)] == [
        "gpt-5.2-模型 · 42% context · 18.2k tokens · $0.03 · accept-edits · feature/记忆系统 · ? for keys",
        "gpt-5.2-模型 · 42% context · 18.2k tokens · $0.03 · accept-edits",
        "gpt-5.2-模型 · 42% context · $0.03 · accept-edits",
        "gpt-5.2-模型 · 42% context · accept-edits",
        "gpt-5.2-模型 · accept-edits",
        "accept-edits",
    ]


def test_a_hint_takes_its_place() -> None:
    assert text_of([status_row(FULL, 80, "Ctrl-C again leaves")]) == "Ctrl-C again leaves"


def test_the_context_warns_before_it_is_full() -> None:
    shares = (0.5, 0.7, 0.79)
    assert [status_row(Bar(context=share, full=0.8), 40)[0] for share in shares] == [
        ("class:dim", "50% context"),
        ("class:warn", "70% context"),
        ("class:bad", "79% context"),
    ]


def test_the_branch_is_read_from_the_repository(tmp_path: Path) -> None:
    assert branch(tmp_path) == ""
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/feature/x\n")
    (tmp_path / "deep").mkdir()
    assert branch(tmp_path / "deep") == "feature/x"
    (git / "HEAD").write_text("0123456789abcdef\n")
    assert branch(tmp_path) == "01234567"
    tree = tmp_path / "tree"
    tree.mkdir()
    (git / "worktrees").mkdir()
    (git / "worktrees" / "HEAD").write_text("ref: refs/heads/other\n")
    (tree / ".git").write_text(f"gitdir: {git}/worktrees\n")
    assert branch(tree) == "other"
