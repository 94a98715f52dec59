"""Task memory as text: what is read of a snapshot, and edits that keep what a person wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.task import TaskPart
from codeagent.memory import board

BY_HAND = """\
<!-- kept for the team -->
# Port to async

Started on Monday.

## 目标 (Goal)
Make the client asynchronous.

## Done
- [x] read the code
- a.py
### second week
- b.py

## My own thoughts
- the pool may be too small

```
## Done
- not a heading: this is code
```

## In Progress:
1. c.py
   with its tests
2. d.py

## 关键决策
* anyio, not asyncio
"""


@pytest.mark.parametrize(
    ("part", "points"),
    [
        ("goal", ["Make the client asynchronous."]),
        ("done", ["read the code", "a.py", "b.py"]),
        ("in_progress", ["c.py\nwith its tests", "d.py"]),
        ("open", []),
        ("decisions", ["anyio, not asyncio"]),
    ],
)
def test_headings_are_known_in_both_languages(part: TaskPart, points: list[str]) -> None:
    assert board.items(board.section(BY_HAND, part)) == points


def test_a_stated_part_changes_nothing_else() -> None:
    assert board.replace(BY_HAND, "in_progress", ["d.py", "e.py\nand f.py"]) == BY_HAND.replace(
        "1. c.py\n   with its tests\n2. d.py\n", "- d.py\n- e.py\n  and f.py\n"
    )


def test_what_is_added_stands_behind_what_is_there() -> None:
    added = board.add(BY_HAND, "done", ["A.py.", "c.py"])
    assert added == BY_HAND.replace("- b.py\n", "- b.py\n- c.py\n")
    assert board.add(added, "done", ["c.py"]) == added


def test_a_point_is_removed_with_what_belongs_to_it() -> None:
    assert board.remove(BY_HAND, "in_progress", ["C.py"]) == BY_HAND.replace("1. c.py\n   with its tests\n", "")
    assert board.remove(BY_HAND, "done", ["the pool may be too small"]) == BY_HAND


def test_a_missing_part_finds_its_place() -> None:
    text = board.add(BY_HAND, "open", ["e.py"])
    assert text == BY_HAND.replace("## 关键决策", "## 待办\n- e.py\n\n## 关键决策")
    assert board.replace("", "goal", ["Ship it."]) == "## Goal\nShip it.\n"
    assert board.replace("<!-- 说明 -->\n", "goal", ["发布。"]) == "<!-- 说明 -->\n\n## 目标\n发布。\n"


def test_comments_in_a_part_stay() -> None:
    text = "## Open\n<!-- the team's list -->\n- a\n\n## Done\n- b\n"
    assert board.replace(text, "open", ["c"]) == "## Open\n<!-- the team's list -->\n- c\n\n## Done\n- b\n"


def test_a_comment_that_is_never_closed_hides_no_rule() -> None:
    assert board.rules("<!-- oh\nnever push") == ["<!-- oh", "never push"]


def test_rules_are_what_says_something() -> None:
    assert board.rules("<!-- header\nlong -->\n# Rules\n\n- never push\n禁止删库\n") == ["- never push", "禁止删库"]


TEXT = st.text(st.sampled_from("ab 目\n#-`<!>\t"), max_size=80)
POINTS = st.lists(st.text(st.sampled_from("ab目 "), min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=3)
PARTS = st.sampled_from(list(board.HEADINGS))


@given(TEXT, PARTS, POINTS)
def test_what_was_written_can_be_read_and_nothing_else_is_lost(text: str, part: TaskPart, points: list[str]) -> None:
    closed = text.replace("`", "").replace("<", "").replace("~", "")
    before = {other: board.section(closed, other) for other in board.HEADINGS if other != part}
    stated = board.replace(closed, part, points)
    read = {board.same(point) for point in board.items(board.section(stated, part))}
    assert read >= {board.same(point) for point in points if board.same(point).strip("#-")}
    assert {other: board.section(stated, other) for other in before} == before
    assert board.add(board.add(closed, part, points), part, points) == board.add(closed, part, points)


@given(TEXT, PARTS, POINTS)
def test_any_text_can_be_edited(text: str, part: TaskPart, points: list[str]) -> None:
    for edited in (
        board.replace(text, part, points),
        board.add(text, part, points),
        board.remove(text, part, points),
        board.append(text, points),
    ):
        assert isinstance(board.items(board.section(edited, part)), list)


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("Objective", "goal"),
        ("总目标", "goal"),
        ("2. Key Decisions:", "decisions"),
        ("决策（已定）", None),
        ("Work in progress", "in_progress"),
        ("当前进度", "in_progress"),
        ("TODO", "open"),
        ("已经完成", "done"),
        ("Thoughts", None),
    ],
)
def test_headings_have_other_names(title: str, part: TaskPart | None) -> None:
    assert board.part_named(title) == part


def test_a_line_in_bold_is_a_heading_and_can_be_edited_under() -> None:
    text = "**Goal**\nPort it.\n\n**In progress:**\n- a.py\n\n**Mine**\n- b.py\n"
    assert board.replace(text, "in_progress", ["c.py"]) == text.replace("a.py", "c.py")
    assert board.section(text, "goal") == "Port it."


def test_a_label_with_words_behind_it_or_in_a_list_or_in_code_is_none() -> None:
    text = "Goal: ship\n- Done:\n```\nOpen:\n```\n"
    assert ([board.section(text, part) for part in board.HEADINGS], board.says(text)) == ([""] * 5, True)


def test_what_stands_under_no_known_heading() -> None:
    rest = "#### Port to async\nStarted on Monday.\n#### My own thoughts\n- the pool may be too small\n```\n## Done\n"
    assert board.rest(BY_HAND) == f"{rest}- not a heading: this is code\n```"
    assert board.rest("# Title\n<!-- a comment -->\n## Empty\n\n## 目标\n移植\n") == ""


def test_a_new_goal_takes_away_nothing_else_that_a_person_wrote() -> None:
    text = "## 目标\n移植\n\n我自己的段落\n\n## Goal:\nsecond goal\n### Sub heading of mine\n- mine\n\n## Done\n- a\n"
    assert board.replace(text, "goal", ["new goal"]) == text.replace("移植", "new goal")


def test_a_list_stated_anew_keeps_what_is_under_a_heading_of_the_persons() -> None:
    text = "## Open\n- a\n\n### Later\n- b\n\n## 关键决策\n- c\n"
    assert board.replace(text, "open", ["d"]) == text.replace("- a", "- d")
    assert board.stated(text, "open").strip() == "- a"


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("# Rules\n\n- never push\n", "- never push"),
        ("# never push\n# never rebase\n", "# never push\n# never rebase"),
        ("- never push\n# never rebase\n", "- never push\n# never rebase"),
        ("<!-- why -->\n# never push\n", "# never push"),
    ],
)
def test_a_rule_that_looks_like_a_title_is_sent(text: str, sent: str) -> None:
    assert board.constraints(text) == sent


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("Rename 支付 to payment everywhere.\n", False),
        ("把 parse_config 改成 async，保留旧名字\n", True),
        ("## Goal\n\n## Key decisions\n- 移植\n", True),
        ("## 目标\n", False),
    ],
)
def test_the_language_is_the_one_most_is_written_in(text: str, chinese: bool) -> None:
    assert board.chinese(text) is chinese
