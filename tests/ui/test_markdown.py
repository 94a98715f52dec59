"""The streaming splitter: lossless, indifferent to how the text was cut, linear, and settled as early as can be."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.ui.markdown import LONGEST, TABLE_ROWS, Block, Splitter
from codeagent.ui.paper import Paper, markdown_rows
from codeagent.ui.rows import row_width, text_of

PIECES = st.sampled_from(
    [
        "# Title\n",
        "text ",
        "中文句子。",
        "\n",
        "\n\n",
        "- item\n",
        "  - nested\n",
        "1. one\n",
        "> quote\n",
        "```py\n",
        "```",
        "~~~\n",
        "| a | b |\n",
        "| --- | --- |\n",
        "|---|\n",
        "| 1 | 二 |\n",
        "***\n",
        "**bold",
        "** ",
        "`code`",
        "a|b",
        "    indented\n",
        "\r\n",
        "\t",
        "====\n",
        "x" * 50,
        "。" * 700,
        "word " * 300,
        "[l](http://x)",
        "\x1b[2J",
        "~~",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def _blocks(text: str, cuts: list[int]) -> list[Block]:
    splitter, blocks, start = Splitter(), [], 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        blocks += splitter.feed(text[start:cut])
        assert "".join(block.source for block in [*blocks, *splitter.tail]) == text[:cut]
        start = cut
    return blocks + splitter.end()


@given(TEXTS, st.lists(st.integers(0, 100_000), max_size=12))
@settings(deadline=None, max_examples=150)
def test_nothing_is_lost_and_the_cuts_make_no_difference(text: str, cuts: list[int]) -> None:
    blocks = _blocks(text, cuts)
    assert "".join(block.source for block in blocks) == text
    assert blocks == _blocks(text, [])


@given(TEXTS, st.lists(st.integers(0, 100_000), max_size=8), st.integers(12, 120))
@settings(deadline=None, max_examples=100)
def test_pieces_look_like_the_whole_and_fit_the_width(text: str, cuts: list[int], cells: int) -> None:
    splitter, paper, rows, start = Splitter(), Paper(), [], 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        rows += paper.rows(splitter.feed(text[start:cut]), cells)
        paper.peek(splitter.tail, cells)
        start = cut
    rows += paper.rows(splitter.end(), cells)
    assert rows == markdown_rows(text, cells)
    assert [row for row in rows if row_width(row) > cells] == []


@given(st.text(max_size=400))
@settings(deadline=None)
def test_any_text_can_be_shown(text: str) -> None:
    assert not set(text_of(markdown_rows(text, 40))) & {chr(code) for code in (*range(9), *range(11, 32), 127, 155)}


def test_what_settles_when() -> None:
    splitter = Splitter()
    assert splitter.feed("# He") == []
    assert splitter.tail == [Block("heading", "# He", "He", marker="#")]
    assert splitter.feed("ad\npara") == [Block("heading", "# Head\n", "Head", marker="#")]
    assert splitter.feed("graph\n```py\nx = 1\ny") == [
        Block("text", "paragraph\n", "paragraph"),
        Block("fence", "```py\n", marker="py"),
        Block("code", "x = 1\n", "x = 1"),
    ]
    assert splitter.feed(" = 2\n```\n") == [Block("code", "y = 2\n", "y = 2"), Block("end", "```\n")]
    assert splitter.feed("| a |\n|---|\n| 1 |\n") == []
    assert splitter.feed("\n") == [
        Block("table", "| a |\n|---|\n| 1 |\n", "| a |\n|---|\n| 1 |"),
        Block("blank", "\n"),
    ]
    assert splitter.end() == []


def test_long_lines_and_long_tables_settle_piecewise() -> None:
    splitter = Splitter()
    splitter.feed("word " * LONGEST)
    assert sum(len(block.source) for block in splitter.tail) <= LONGEST
    splitter.end()
    splitter.feed("| a |\n|---|\n" + "| 1 |\n" * (10 * TABLE_ROWS))
    assert sum(block.source.count("\n") for block in splitter.tail) <= TABLE_ROWS


def test_a_line_with_a_bar_is_no_table_without_its_second_line() -> None:
    assert text_of(markdown_rows("run a | b\nand c\n", 40)) == "run a | b\nand c"


def test_how_it_reads() -> None:
    text = "\n".join(
        [
            "## 标题 **x**",
            "a `b` *c* snake_case_name 2 * 3 * 4",
            "- [x] done",
            "- [ ] open",
            "  1. **中文。**后面",
            "> said [this](http://x.y)",
            "",
            "",
            "---",
            "~~~",
            "if a:",
            "\tb",
            "~~~",
        ]
    )
    assert text_of(markdown_rows(text, 60)).split("\n") == [
        "标题 x",
        "a b c snake_case_name 2 * 3 * 4",
        "☑ done",
        "☐ open",
        "  1. 中文。后面",
        "│ said this (http://x.y)",
        "",
        "─" * 24,
        "  if a:",
        "      b",
    ]


def test_styles_of_inline_markup() -> None:
    assert markdown_rows("a **b `c`** _d_ ~~e~~ \\*f", 60) == [
        [
            ("", "a "),
            ("class:md.bold", "b "),
            ("class:md.bold class:md.code", "c"),
            ("", " "),
            ("class:md.italic", "d"),
            ("", " "),
            ("class:md.strike", "e"),
            ("", " "),
            ("", "*"),
            ("", "f"),
        ]
    ]


def test_chinese_breaks_anywhere_but_before_its_punctuation() -> None:
    assert text_of(markdown_rows("这是一个很长的句子，需要换行。mixed with English words", 20)).split("\n") == [
        "这是一个很长的句子，",
        "需要换行。mixed with",
        "English words",
    ]


def test_code_keeps_its_colours_from_line_to_line() -> None:
    splitter, paper = Splitter(), Paper()
    paper.rows(splitter.feed('```python\nx = """\n'), 60)
    [inside, closed, after] = paper.rows(splitter.feed('inside = 1\n"""\nafter = 1\n'), 60)
    string = "class:pygments.literal.string.double"
    assert inside == [("", "  "), (string, "inside = 1")]
    assert closed == [("", "  "), (string, '"""')]
    assert after[:2] == [("", "  "), ("class:pygments.name", "after")]


def test_a_narrow_table_becomes_records() -> None:
    table = "| name | size | what | more |\n|---|---|---|---|\n| a | 1 | 中文说明 | y |\n"
    assert text_of(markdown_rows(table, 24)).split("\n") == ["name: a", "size: 1", "what: 中文说明", "more: y"]


def test_a_table_ends_with_the_text_newline_or_not() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    assert _blocks(table, []) == [Block("table", table, table)]
    assert markdown_rows(table, 40) == markdown_rows(f"{table}\n", 40)
    assert _blocks("| a |\n|---|", []) == [Block("table", "| a |\n|---|", "| a |\n|---|")]
    assert [block.kind for block in _blocks("| a |\n|---|\n| 1 |\nafter", [])] == ["table", "text"]
