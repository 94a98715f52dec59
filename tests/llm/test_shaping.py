"""Messages and tools rewritten for servers that want them otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.messages import (
    AssistantMessage,
    Message,
    Reasoning,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    WireShape,
    encode,
    encode_json,
)
from codeagent.llm.shaping import alternating, plain_tools, with_ids, with_thoughts

ECHO = WireShape(echo_reasoning=True)
QUOTING = '{"id":"x","tool_call_id":"y","reasoning_content":"z"}'


def talk(*messages: Message) -> list[bytes]:
    return [encode(message) for message in messages]


def roles(messages: Sequence[bytes]) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in map(json.loads, alternating(messages))]


def test_neighbours_of_one_role_are_joined_and_results_answered() -> None:
    used = AssistantMessage("", (ToolCall("c", "f"),))
    messages = talk(
        SystemMessage("s"), UserMessage("a"), UserMessage("b"), AssistantMessage("c"), used, ToolMessage("c", "f", "1"),
        UserMessage("d"), UserMessage("e"),
    )  # fmt: skip
    assert roles(messages) == [
        ("system", "s"),
        ("user", "a\n\nb"),
        ("assistant", "c"),
        ("tool", "1"),
        ("assistant", "OK."),
        ("user", "d\n\ne"),
    ]


STEPS: dict[str, tuple[Message, ...]] = {
    "call": (AssistantMessage("r", (ToolCall("c", "f"),)), ToolMessage("c", "f", "1")),
    "call, and pictures": (AssistantMessage("", (ToolCall("c", "f"),)), ToolMessage("c", "f", "1"), UserMessage("p")),
    "call, and steered twice": (
        AssistantMessage("", (ToolCall("c", "f"),)),
        ToolMessage("c", "f", "1"),
        UserMessage("p"),
        UserMessage("q"),
    ),
    "answer": (AssistantMessage("x"), UserMessage("u")),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=8))
def test_a_longer_history_begins_with_the_shorter_one(steps: list[str]) -> None:
    messages: list[Message] = [SystemMessage("s"), UserMessage("u")]
    sent = [list(alternating(talk(*messages)))]
    for step in steps:
        messages += STEPS[step]
        sent.append(list(alternating(talk(*messages))))
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(sent))
    order = list(pairwise(role for role, _ in roles(talk(*messages))))
    assert not {("user", "user"), ("assistant", "assistant"), ("tool", "user")} & set(order)


def test_ids_become_what_is_taken_and_a_result_still_meets_its_call() -> None:
    text = AssistantMessage(QUOTING, (ToolCall("functions.read:0", "f", QUOTING), ToolCall("abcdef123", "g")))
    call, result = talk(text, ToolMessage("functions.read:0", "f", QUOTING))
    sent = [json.loads(with_ids(message, "nine")) for message in (call, result)]
    made = sent[0]["tool_calls"][0]["id"]
    assert re.fullmatch("[A-Za-z0-9]{9}", made)
    assert sent == [
        {
            "role": "assistant",
            "content": QUOTING,
            "tool_calls": [
                {"id": made, "type": "function", "function": {"name": "f", "arguments": QUOTING}},
                {"id": "abcdef123", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": made, "name": "f", "content": QUOTING},
    ]
    assert (with_ids(call, "any"), with_ids(result, "any")) == (call, result)
    short = encode(ToolMessage("call_123", "f", "1"))
    assert with_ids(short, "short") == short


def test_reasoning_is_in_every_message_or_in_none() -> None:
    thinking = encode(AssistantMessage(QUOTING, (), Reasoning("hm", "reasoning")), ECHO)
    plain = encode(AssistantMessage(QUOTING))
    always = [json.loads(with_thoughts(message, "always")) for message in (thinking, plain)]
    assert always == [
        {"role": "assistant", "content": QUOTING, "reasoning_content": "hm"},
        {"role": "assistant", "content": QUOTING, "reasoning_content": ""},
    ]
    assert [with_thoughts(message, "never") for message in (thinking, plain)] == [plain, plain]
    assert with_thoughts(encode(UserMessage(QUOTING)), "always") == encode(UserMessage(QUOTING))


def test_schemas_are_cut_down_to_what_every_server_takes() -> None:
    schema = {
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer", "minimum": 0}}}},
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "at": {"$ref": "#/$defs/Point", "description": "Where."},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "kind": {"const": "a"},
            "many": {"type": ["array", "null"], "items": {"oneOf": [{"type": "number"}, {"type": "string"}]}},
            "any": {},
        },
        "required": ["at"],
    }
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}
    (plain,) = json.loads(plain_tools(encode_json([tool])))
    assert plain["function"]["parameters"] == {
        "type": "object",
        "properties": {
            "at": {"type": "object", "description": "Where.", "properties": {"x": {"type": "integer"}}},
            "when": {"type": "string"},
            "kind": {"type": "string", "enum": ["a"]},
            "many": {"type": "array", "items": {"type": "number"}},
            "any": {"type": "string"},
        },
        "required": ["at"],
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"inner": {"$ref": "#"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": node}}
    assert plain_tools(encode_json([tool])).count(b'"inner"') < 20
