"""Messages and their wire form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.messages import AssistantMessage, ToolCall, from_wire, to_wire


def arguments(written: str) -> str:
    wire = to_wire(AssistantMessage("", (ToolCall("a", "glob", written),)))
    return str(wire["tool_calls"][0]["function"]["arguments"])


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("{}", "{}"),
        ('{"pattern":  "*"}', '{"pattern":  "*"}'),
        ('{"pattern": "*', '{"invalid_json": "{\\"pattern\\": \\"*"}'),
        ("读 it", '{"invalid_json": "读 it"}'),
        ("[1]", '{"invalid_json": "[1]"}'),
        ("", '{"invalid_json": ""}'),
        ('{"invalid_json": "{}"}', '{"invalid_json": "{}"}'),
        ('{"invalid_json": 1}', '{"invalid_json": 1}'),
    ],
)
def test_what_is_no_object_is_sent_as_a_string_in_one(written: str, sent: str) -> None:
    assert arguments(written) == sent
    message = AssistantMessage("", (ToolCall("a", "glob", written),))
    assert from_wire(to_wire(message)) == message


@pytest.mark.parametrize("written", ["[" * 100_000, '{"p":' * 100_000])
def test_absurd_nesting_is_only_text(written: str) -> None:
    assert json.loads(arguments(written)) == {"invalid_json": written}


@given(st.text())
def test_every_endpoint_can_parse_what_it_gets_back_and_nothing_is_lost(written: str) -> None:
    assert isinstance(json.loads(arguments(written)), dict)
    message = AssistantMessage("x", (ToolCall("a", "glob", written),))
    assert from_wire(to_wire(message)) == message
