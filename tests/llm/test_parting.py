"""Thinking in tags and calls written as text, as they come in the content of a stream."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.events import ReasoningDelta, TextDelta
from codeagent.core.messages import AssistantMessage, Reasoning
from codeagent.core.ports import Endpoint, Reply, StreamItem
from codeagent.llm.assemble import Assembler

TOOLS = ("read_file", "shell")
HERE = Endpoint("http://127.0.0.1:1/v1", "", "m")


def stream(
    *pieces: str, thinking: bool = False, bare: bool = False, finish: str = "stop", apart: str = ""
) -> tuple[list[StreamItem], Reply, bool]:
    """The deltas of a content, the reply, and whether it turned out to have begun inside a thought."""
    assembler = Assembler(HERE, {name: name for name in TOOLS}, thinking=thinking, bare=bare)
    items: list[StreamItem] = []
    if apart:
        items += assembler.feed({"choices": [{"delta": {"reasoning_content": apart}}]})
    for piece in pieces:
        items += assembler.feed({"choices": [{"delta": {"content": piece}}]})
    items += assembler.feed({"choices": [{"delta": {}, "finish_reason": finish}]})
    return [*items, *assembler.rest()], assembler.reply(done=True), assembler.opened


def answer(*pieces: str, **how: bool) -> AssistantMessage:
    return stream(*pieces, **how)[1].message  # type: ignore[arg-type]


def told(items: list[StreamItem]) -> tuple[str, str]:
    """What was shown as text and as thinking."""
    return (
        "".join(item.text for item in items if isinstance(item, TextDelta)),
        "".join(item.text for item in items if isinstance(item, ReasoningDelta)),
    )


def calls(message: AssistantMessage) -> list[tuple[str, object]]:
    assert all(call.written for call in message.calls)
    return [(call.name, json.loads(call.arguments)) for call in message.calls]


# ---- thinking ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<think>hm 好</think>\n\nYes.", AssistantMessage("Yes.", (), Reasoning("hm 好"))),
        ("\n<thinking>hm</thinking>Yes.", AssistantMessage("Yes.", (), Reasoning("hm"))),
        ("[THINK]hm[/THINK]Yes.", AssistantMessage("Yes.", (), Reasoning("hm"))),
        ("<think>a</think><think>b</think>Yes.", AssistantMessage("Yes.", (), Reasoning("ab"))),
        ("<think></think>\n\nYes.", AssistantMessage("Yes.")),
        ("<think>cut", AssistantMessage("", (), Reasoning("cut"))),
        ("<think>say `</think>` now</think>Yes.", AssistantMessage("Yes.", (), Reasoning("say `</think>` now"))),
        ("Yes, <think> opens it.", AssistantMessage("Yes, <think> opens it.")),
        ("`</think>`\nends it.", AssistantMessage("`</think>`\nends it.")),
        ("```\na\n</think>\nb\n```", AssistantMessage("```\na\n</think>\nb\n```")),
        ("<thin ice", AssistantMessage("<thin ice")),
        ("<th", AssistantMessage("<th")),
    ],
)
def test_thinking_in_tags_is_no_answer_however_it_is_cut(content: str, message: AssistantMessage) -> None:
    assert answer(content) == message
    assert answer(*content) == message


def test_thinking_in_tags_is_shown_as_thinking_while_it_comes() -> None:
    items, reply, _ = stream("<thi", "nk>one ", "two</th", "ink>\n\nYe", "s.")
    assert items == [ReasoningDelta("one "), ReasoningDelta("two"), TextDelta("Ye"), TextDelta("s.")]
    assert reply == Reply(AssistantMessage("Yes.", (), Reasoning("one two")))


def test_a_closing_tag_alone_is_recognised_late_and_expected_from_then_on() -> None:
    items, reply, opened = stream("hm\n</think>\n\n", "Yes.")
    assert (told(items), reply.message, opened) == (
        ("hm\n</think>\n\nYes.", ""),
        AssistantMessage("Yes.", (), Reasoning("hm")),
        True,
    )
    items, reply, opened = stream("hm\n</think>\n\n", "Yes.", thinking=True)
    assert (told(items), reply.message, opened) == (
        ("Yes.", "hm\n"),
        AssistantMessage("Yes.", (), Reasoning("hm")),
        False,
    )


def test_an_expected_thought_that_never_closes_was_the_answer() -> None:
    items, reply, _ = stream("Yes", ".", thinking=True)
    assert (told(items)[0], reply.message) == ("Yes.", AssistantMessage("Yes."))


def test_an_expected_thought_may_have_its_tag_all_the_same_and_be_cut() -> None:
    assert answer("<think>hm</think>\n\nYes.", thinking=True) == AssistantMessage("Yes.", (), Reasoning("hm"))
    items, reply, _ = stream("hm", thinking=True, finish="length")
    assert (told(items), reply.message) == (("", "hm"), AssistantMessage("", (), Reasoning("hm")))


def test_where_the_server_parts_thinking_the_content_is_the_answer() -> None:
    items, reply, _ = stream("Yes.", thinking=True, apart="hm")
    assert (told(items), reply.message) == (("Yes.", "hm"), AssistantMessage("Yes.", (), Reasoning("hm")))
    assert stream("a\n</think>\nb", apart="hm")[1].message == AssistantMessage("a\n</think>\nb", (), Reasoning("hm"))


@given(st.text(alphabet="<>/think `\nab", max_size=60), st.integers(1, 5))
def test_nothing_that_was_said_gets_lost(content: str, size: int) -> None:
    items, reply, opened = stream(*(content[at : at + size] for at in range(0, len(content), size)), finish="length")
    text, thought = told(items)
    assert answer(content) == reply.message
    assert text + thought in content or "think" in content
    assert opened or text == reply.message.text


# ---- calls ---------------------------------------------------------------------------------------------------------

READ = [("read_file", {"path": "a.py"})]
WRITTEN = {
    "hermes": '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
    "hermes, text in it": '<tool_call>{"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}</tool_call>',
    "hermes, with slips": "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a.py',}}</tool_call>",
    "qwen": "<tool_call>\n<function=read_file>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
    "qwen, half open": "<function=read_file><parameter=path>a.py</parameter></function></tool_call>",
    "glm": "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call>",
    "invoke": '<function_calls><invoke name="read_file"><parameter name="path">a.py</parameter></invoke>'
    "</function_calls>",
    "minimax": '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "dsml": '<｜DSML｜function_calls><｜DSML｜invoke name="read_file"><｜DSML｜parameter name="path" string="true">a.py'
    "</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>",
    "mistral": '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "mistral, newer": '[TOOL_CALLS]read_file[ARGS]{"path": "a.py"}',
    "deepseek": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{"path": "a.py"}'
    "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek, newer": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "a.py"}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
    '{"path": "a.py"}<|tool_call_end|><|tool_calls_section_end|>',
}


@pytest.mark.parametrize("form", WRITTEN)
def test_calls_written_as_text_become_calls_and_are_never_shown(form: str) -> None:
    content = f"I look at it.\n{WRITTEN[form]}\n"
    items, reply, _ = stream(*content)
    assert told(items) == ("I look at it.\n", "")
    assert (reply.message.text, calls(reply.message)) == ("I look at it.", READ)


def test_several_calls_may_stand_in_a_row() -> None:
    message = answer("<think>hm</think>" + WRITTEN["hermes"] + "\n" + WRITTEN["glm"])
    assert (message.text, calls(message), message.reasoning) == ("", READ * 2, Reasoning("hm"))


@pytest.mark.parametrize(
    "content",
    [
        WRITTEN["hermes"] + "\nThat is how it is written.",
        WRITTEN["hermes"].replace("read_file", "rm_all"),
        WRITTEN["hermes"].replace("</tool_call>", ""),
        f"```\n{WRITTEN['hermes']}\n```",
        f"```xml\n{WRITTEN['qwen']}",
        f"Write `{WRITTEN['hermes'][:60]}",
        '{"name": "read_file", "arguments": {"path": "a.py"}}',
        "<tool_call>",
        "a [TOOL_CALLS] b",
    ],
)
def test_what_is_quoted_cut_unknown_or_not_at_the_end_is_text(content: str) -> None:
    items, reply, _ = stream(*content)
    assert (told(items)[0], reply.message) == (content, AssistantMessage(content))


def test_a_reply_at_its_length_limit_makes_no_calls_of_text() -> None:
    assert stream(WRITTEN["hermes"], finish="length")[1] == Reply(
        AssistantMessage(WRITTEN["hermes"]), None, "length", cut=True
    )


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "shell", "parameters": {"command": "ls"}}',
        'So:\n```json\n{"name": "shell", "arguments": {"command": "ls"}}\n```',
    ],
)
def test_json_alone_is_a_call_only_where_the_profile_says_so(content: str) -> None:
    assert calls(answer(content, bare=True)) == [("shell", {"command": "ls"})]
    assert answer(content) == AssistantMessage(content)
    assert answer(content.replace("shell", "hack"), bare=True).calls == ()
