"""The history of what was typed."""

from __future__ import annotations

import os
from pathlib import Path

from codeagent.ui.typed import TypedHistory


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "typed.txt")
    history = TypedHistory(tmp_path / "typed.txt")
    history.store_string("x")
    assert list(history.load_history_strings()) == []


def test_what_was_typed_is_there_again(tmp_path: Path) -> None:
    TypedHistory(tmp_path / "typed.txt").store_string("一\n二")
    assert list(TypedHistory(tmp_path / "typed.txt").load_history_strings()) == ["一\n二"]
