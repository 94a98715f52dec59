"""What the person at the terminal is asked, and what their editor gives back."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest
from prompt_toolkit.completion import DummyCompleter
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory

from codeagent.core.ui import Choice, Question
from codeagent.ui.approve import Approval
from codeagent.ui.look import Look
from codeagent.ui.output import FrameOutput
from codeagent.ui.render import preview_rows
from codeagent.ui.rows import text_of
from codeagent.ui.screen import Screen
from codeagent.ui.tables import table
from codeagent.ui.terminal import TerminalUI


@pytest.mark.parametrize(
    ("code", "edited"),
    [
        ("", "- 一\n"),
        ("open(path, 'a').write('- b\\n')", "- 一\n- b"),
        ("sys.exit(1)", None),
    ],
)
async def test_a_text_that_the_editor_left_alone_comes_back_as_it_was(
    tmp_path: Path, code: str, edited: str | None
) -> None:
    editor = (sys.executable, "-c", f"import sys; path = sys.argv[1]; {code}")
    look = Look(
        cwd=tmp_path, history=tmp_path / "typed", version="0", model="m", editor=editor, environ=dict(os.environ)
    )
    screen = Screen(look, FrameOutput(io.StringIO(), lambda: Size(24, 40)), InMemoryHistory(), DummyCompleter())
    assert await TerminalUI(screen, look).edit("- 一\n") == edited


async def test_a_title_beside_a_preview_is_whole_in_two_rows_and_cut_beyond() -> None:
    def asked(title: str) -> list[str]:
        approval = Approval(Question(title, (Choice("no", "No"),), "never push"), preview_rows)
        return text_of(approval.rows(40, 24)).split("\n")

    title = "Make this a hard constraint of the project?"
    assert " ".join(row.strip() for row in asked(title)[:2]) == title
    assert asked(f"Run {'x ' * 60}")[0].endswith("…")


def test_a_tall_column_is_stacked_where_it_is_narrow() -> None:
    head = [[("", "where")], [("", "id")], [("", "what")]]
    body = [[[("", "system prompt")], [("", "task memory")], [("", "=== AGENT MEMORY BEGIN ===\n- 永远不要推送")]]]
    lines = ["where: system prompt", "id: task memory", "what: === AGENT MEMORY BEGIN ===", "  - 永远不要推送"]
    assert text_of(table(head, body, 40)).split("\n") == lines
    assert len(text_of(table(head, body, 100)).split("\n")) == 4
