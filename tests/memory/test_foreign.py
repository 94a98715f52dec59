"""Summaries of others, by the words they begin with."""

from __future__ import annotations

import pytest

from codeagent.memory.foreign import bears_foreign_mark, begins_with_foreign_mark


@pytest.mark.parametrize(
    "text",
    [
        "This session is being continued from a previous conversation that ran out of context.",
        "<state_snapshot>\n<overall_goal>",
        "<CONVERSATION SUMMARY>",
        "Here's a brief summary of our conversation so far:",
        "Here is a summary of the conversation to date:",
        "Another language model started to solve this problem and produced a summary",
        "[NOTE] Some previous conversation history with the user has been removed to maintain the window.",
        "Your context was compacted. The previous message contains a summary.",
        "以下是之前对话的摘要：",
        "此前的上下文已被压缩。",
    ],
)
def test_known_wordings(text: str) -> None:
    assert bears_foreign_mark(text)


@pytest.mark.parametrize(
    "text",
    [
        "Here is a summary of the changes.",
        "Write a summary of the file, then continue.",
        "The previous version was removed.",
        "下面是这个文件的摘要",
        "把之前的函数压缩一下",
        f"{'x' * 2_000} <state_snapshot>",
        "",
    ],
)
def test_other_talk_of_summaries_is_none(text: str) -> None:
    assert not bears_foreign_mark(text)


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("This session is being continued from a previous conversation.", True),
        ("# Here is a summary of the conversation so far\nAll is well.", True),
        ("<state_snapshot>\n<overall_goal>", True),
        ("以下是之前对话的摘要：一切顺利。", True),
        ("Why does it say “here is a summary of the conversation so far” at the top?", False),
        ("为什么开头写着“以下是之前对话的摘要”？", False),
    ],
)
def test_only_a_message_that_begins_so_is_one(text: str, begins: bool) -> None:
    assert begins_with_foreign_mark(text) is begins
