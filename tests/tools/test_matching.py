from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.tools.matching import Ambiguous, Edited, NotFound, apply_edit
from codeagent.tools.nearest import nearest_passage

CASES = {
    "exact": ("a = 1\nb = 2\n", "b = 2", "b = 3", "a = 1\nb = 3\n", ()),
    "exact, in the middle of a line": ("say(one, two)\n", "one", "uno", "say(uno, two)\n", ()),
    "exact wins over tolerant": ('x = “a”\nx = "a"\n', 'x = "a"', 'x = "b"', 'x = “a”\nx = "b"\n', ()),
    "deleting": ("a\nb\nc\n", "b\n", "", "a\nc\n", ()),
    "old has trailing blanks": ("a\nb\nc\n", "a  \nb\t\n", "a\nB\n", "a\nB\nc\n", ("trailing blanks",)),
    "file has trailing blanks": ("a  \nb\nc\n", "a\nb\n", "a\nB\n", "a  \nB\nc\n", ("trailing blanks",)),
    "file has CRLF": ("a\r\nb\r\nc\r\n", "a\nb\n", "a\nB\nBB\n", "a\r\nB\r\nBB\r\nc\r\n", ("line ends",)),
    "file has CRLF, one line becomes two": ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", ()),
    "old has CRLF": ("a\nb\n", "a\r\nb\r\n", "a\r\nB\r\n", "a\nB\n", ()),
    "quotes: the file keeps its own": (
        "print(“你好”, x)\n",
        'print("你好", x)',
        'print("你好", y)',
        "print(“你好”, y)\n",
        ("quotes",),
    ),
    "straight quotes in the file": ('it\'s "so"\n', "it’s “so”", "it’s “thus”", 'it\'s "thus"\n', ("quotes",)),
    "full-width forms": (
        "他说：好（是）。\n",
        "他说:好(是)。",
        "他说:不(是)。",
        "他说：不（是）。\n",
        ("full-width forms",),
    ),
    "a blank that does not break": ("a\u00a0= 1\n", "a = 1", "a = 2", "a\u00a0= 2\n", ("full-width forms",)),
    "indented less than the file": (
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1\n",
        "def f(self):\n    if x:\n        return 2\n    return 1\n",
        "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
        ("indentation",),
    ),
    "indented more than the file": (
        "def f():\n    return 1\n",
        "    def f():\n        return 1\n",
        "    def f():\n        return 2\n",
        "def f():\n    return 2\n",
        ("indentation",),
    ),
    "tabs in the file, blanks in old": (
        "if x:\n\tif y:\n\t\tz()\n",
        "    if y:\n        z()\n",
        "    if y:\n        z()\n        w()\n",
        "if x:\n\tif y:\n\t\tz()\n\t\tw()\n",
        ("indentation",),
    ),
    "line numbers copied along": (
        "a\nb\nc\n",
        "2\tb\n3\tc\n",
        "2\tB\n3\tc\n",
        "a\nB\nc\n",
        ("line numbers",),
    ),
    "line numbers in old alone": ("a\nb\nc\n", "     2→b\n     3→c", "B\nc", "a\nB\nc\n", ("line numbers",)),
    "line numbers and indentation": (
        "if x:\n    a()\n    b()\n",
        "2\ta()\n3\tb()\n",
        "a()\nc()\n",
        "if x:\n    a()\n    c()\n",
        ("line numbers", "indentation"),
    ),
    "no newline at the end of the file": ("a\nb", "b\n", "c\n", "a\nc", ("the final newline",)),
    "blank lines inside are equal": ("a\n   \nb\n", "a\n\nb\n", "a\n\nB\n", "a\n   \nB\n", ("trailing blanks",)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_passage_that_was_meant_is_replaced(name: str) -> None:
    text, old, new, after, tolerated = CASES[name]
    edit = apply_edit(text, old, new)
    assert isinstance(edit, Edited)
    assert (edit.text, edit.count, edit.tolerated) == (after, 1, tolerated)


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("a\nb\n", "c"),
        ("if x:\n    a()\n        b()\n", "a()\nb()\n"),
        ("a\nb\n", "   \n"),
        ("a\nc\n", "1\ta\n3\tc\n"),
        ("", "x"),
        ("foo bar", "foobar"),
    ],
)
def test_what_is_not_there_is_not_found(text: str, old: str) -> None:
    assert apply_edit(text, old, "new") == NotFound()


@pytest.mark.parametrize(
    ("text", "old", "lines"),
    [
        ("x\ny\nx\n", "x", (1, 3)),
        ("x  \ny\nx  \n", "x\ny\nx\n", None),
        ("“a”\n‘b’\n“a”\n", '"a"', (1, 3)),
        ("  f()\n\n    f()\n", "      f()\n", (1, 3)),
    ],
)
def test_a_passage_must_be_unique(text: str, old: str, lines: tuple[int, ...] | None) -> None:
    edit = apply_edit(text, old, "new")
    assert edit == Ambiguous(lines) if lines else isinstance(edit, Edited)


def test_every_passage_is_replaced_in_its_own_way() -> None:
    text = "say(“a”)\r\nsay(‘a’)\r\n"
    assert apply_edit(text, '("a"', '("b"', every=True) == Edited("say(“b”)\r\nsay(‘a’)\r\n", 1, 1, 1, ("quotes",))
    assert apply_edit("x x\nx\n", "x", "yy", every=True) == Edited("yy yy\nyy\n", 3, 1, 1)


def test_the_lines_of_the_new_text_are_told() -> None:
    edit = apply_edit("a\nb\nc\n", "b\n", "1\n2\n3\n")
    assert edit == Edited("a\n1\n2\n3\nc\n", 1, 2, 4)


LINES = st.lists(st.sampled_from(["a", "  b", "\tc", "“d”", "e  ", "", "（f）", "g = 1"]), min_size=1, max_size=12)


@given(LINES, st.data(), st.sampled_from(["\n", "\r\n"]))
def test_an_exact_passage_is_replaced_and_nothing_else(lines: list[str], data: st.DataObject, end: str) -> None:
    text = end.join(lines)
    start = data.draw(st.integers(0, len(text) - 1)) if text else 0
    stop = data.draw(st.integers(start, len(text)))
    old = text[start:stop]
    if not old:
        return
    edit = apply_edit(text, old, "NEW")
    places = [at for at in range(len(text)) if text.startswith(old, at)]
    if len(places) == 1:
        assert isinstance(edit, Edited)
        assert edit.text == text[:start] + "NEW" + text[stop:]
    else:
        assert edit == Ambiguous(tuple(text.count("\n", 0, at) + 1 for at in places))


@given(LINES, st.data())
def test_an_edit_touches_no_line_outside_the_passage(lines: list[str], data: st.DataObject) -> None:
    """However loosely the passage was written, the lines around it stay byte for byte."""
    middle = [f"unique {n}" for n in range(data.draw(st.integers(1, 4)))]
    at = data.draw(st.integers(0, len(lines)))
    whole = [*lines[:at], *(f"    {line}  " for line in middle), *lines[at:]]
    shift = data.draw(st.sampled_from(["", "  ", "    ", "      "]))
    old = "\n".join(shift + line for line in middle) + "\n"
    edit = apply_edit("\n".join(whole) + "\n", old, shift + "new\n")
    assert isinstance(edit, Edited)
    assert edit.text.split("\n")[:at] == lines[:at]
    assert edit.text.split("\n")[at + 1 : -1] == lines[at:]


def test_a_near_miss_shows_the_nearest_passage() -> None:
    text = "import os\n\ndef area(radius):\n    return 3.14 * radius ** 2\n\ndef main():\n    pass\n"
    differs = "What differs (- as you gave it, + in the file):\n@@ line 3\n-{}\n+def area(radius):"
    assert nearest_passage(text, "def area(r):\n    return 3.14 * radius ** 2\n") == (
        "3\tdef area(radius):\n4\t    return 3.14 * radius ** 2\n" + differs.format("def area(r):")
    )
    assert nearest_passage(text, "def aera(radius):") == (
        "3\tdef area(radius):\n" + differs.format("def aera(radius):")
    )
    assert nearest_passage(text, "completely different words here") == ""
