"""What a terminal would obey, and what would hide in a text, is shown."""

from __future__ import annotations

import pytest

from codeagent.core.display import plain, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "^[[31mred^G"),
        ("a\u202eb\u2066c", "a⟨202e⟩b⟨2066⟩c"),
        ("rm\u200b -rf", "rm⟨200b⟩ -rf"),
        ("pay\u200dpal.com", "pay⟨200d⟩pal.com"),
        ("\ufeffstart", "⟨feff⟩start"),
        ("x\u3164= 1", "x⟨3164⟩= 1"),
        ("so\u00adft", "so⟨ad⟩ft"),
        ("\U000e0041\U000e0042", "⟨e0041⟩⟨e0042⟩"),
        ("ok\ufe01\ufe02", "ok⟨fe01⟩⟨fe02⟩"),
        ("字\U000e0100\U000e0101\U000e0102", "字⟨e0100⟩⟨e0101⟩⟨e0102⟩"),
        ("line\r\nnext\ttab", "line\nnext\ttab"),
    ],
)
def test_what_hides_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["👩\u200d👩\u200d👧", "❤\ufe0f", "می\u200cخواهم", "葛\U000e0100城", "क\u094d\u200dष", "ﾊﾟ", "é"]
)
def test_what_writing_needs_stays(text: str) -> None:
    assert visible(text) == text


def test_colours_of_programs_go() -> None:
    assert plain("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07") == "red link"
