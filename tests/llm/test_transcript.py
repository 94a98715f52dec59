"""A summary of a transcript, in parts where the model's window is small."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.errors import ModelError
from codeagent.core.messages import AssistantMessage, SystemMessage, ToolCall, ToolMessage, UserMessage, encode
from codeagent.core.tokens import estimate_tokens
from codeagent.llm.transcript import render, split, summarize_transcript

TALK = [
    encode(message)
    for message in (
        SystemMessage("You are an agent."),
        UserMessage("端口是多少？"),
        AssistantMessage("Let me look.", (ToolCall("a", "shell", '{"command":"cat port"}'),)),
        ToolMessage("a", "shell", "5433"),
        AssistantMessage("It is 5433."),
    )
]


class Asked:
    """Answers with its texts in turn, the last one for ever, and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.messages: list[str] = []
        self.instructions: list[str] = []

    async def __call__(self, messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        self.messages.append(b"".join(messages).decode())
        self.instructions.append(instruction)
        assert tools == b"[]"
        return self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]


def test_a_transcript_says_who_said_what_and_leaves_the_system_prompt_out() -> None:
    assert list(render(TALK)) == [
        "[user]\n端口是多少？",
        '[assistant]\nLet me look.\n(calls shell {"command":"cat port"})',
        "[result of shell]\n5433",
        "[assistant]\nIt is 5433.",
    ]


async def test_what_fits_is_one_request() -> None:
    ask = Asked("The port is 5433.")
    assert await summarize_transcript(ask, TALK, "Summarise.", room=10_000) == "The port is 5433."
    assert ask.instructions == ["Summarise."]
    assert "端口是多少？" in ask.messages[0]


async def test_what_does_not_fit_is_summarised_in_parts_and_those_once_more() -> None:
    long = [encode(UserMessage(f"message {number} " + "word " * 300)) for number in range(12)]
    ask = Asked("part 1", "part 2", "part 3", "part 4", "the whole")
    assert await summarize_transcript(ask, long, "Summarise.", room=1_000) == "the whole"
    *parts, merged = ask.messages
    assert [sum(f"message {number} " in text for text in parts) for number in range(12)] == [1] * 12
    assert all(f"part {number}" in merged for number in range(1, 5))


async def test_an_empty_part_makes_the_whole_empty() -> None:
    long = [encode(UserMessage("word " * 3_000))]
    assert await summarize_transcript(Asked(""), long, "Summarise.", room=1_000) == ""


async def test_parts_that_do_not_shrink_are_an_error_and_no_endless_loop() -> None:
    long = [encode(UserMessage("word " * 3_000))]
    with pytest.raises(ModelError):
        await summarize_transcript(Asked("word " * 3_000), long, "Summarise.", room=1_000)


@given(st.lists(st.text(max_size=3_000), max_size=12), st.integers(500, 2_000))
def test_parts_hold_everything_in_order_and_fit(texts: list[str], room: int) -> None:
    parts = split(texts, room)
    assert "".join("".join(parts).split()) == "".join("".join(texts).split())
    assert all(estimate_tokens(part) <= room * 1.1 for part in parts)
