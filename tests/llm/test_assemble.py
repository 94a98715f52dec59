"""Chunks to reply: each oddity of a real endpoint, and what it comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codeagent.core.entries import Usage
from codeagent.core.events import CallDelta, ReasoningDelta, TextDelta
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall
from codeagent.core.ports import Endpoint, Reply
from codeagent.llm.assemble import Assembler, read_usage

HERE = Endpoint("http://127.0.0.1:1/v1", "", "m")


def assemble(*deltas: dict[str, Any], finish: str = "stop", **fields: Any) -> Reply:
    assembler = Assembler(HERE)
    for delta in deltas:
        assembler.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    assembler.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **fields})
    return assembler.reply(done=True)


def part(
    arguments: object = None, *, index: int | None = 0, id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    """A fragment of a tool call; what is None is left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    found = {"function": function, "type": "function", "index": index, "id": id}
    return {key: value for key, value in found.items() if value is not None}


def called(*fragments: dict[str, Any], finish: str = "tool_calls") -> list[tuple[str, str, str]]:
    """(id, name, arguments) of the calls; a made id is shown as "made"."""
    reply = assemble(*({"tool_calls": [fragment]} for fragment in fragments), finish=finish)
    ids = [call.id for call in reply.message.calls]
    assert len(set(ids)) == len(ids)
    return [
        ("made" if len(call.id) == 29 and call.id.startswith("call_") else call.id, call.name, call.arguments)
        for call in reply.message.calls
    ]


READ: dict[str, Any] = {"id": "a", "name": "read_file"}
LIST: dict[str, Any] = {"id": "b", "name": "glob"}


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        ([part("", **READ), part('{"p'), part('":1}')], [("a", "read_file", '{"p":1}')]),
        ([part("", **READ), part('{"p', id="", name=""), part('":1}', id="", name="")],
         [("a", "read_file", '{"p":1}')]),
        ([part("", name="glob"), part("{}", id="b")], [("b", "glob", "{}")]),
        ([part("{}", name="glob")], [("made", "glob", "{}")]),
        ([part('{"p', **READ), part('":', **READ), part("1}", **READ)], [("a", "read_file", '{"p":1}')]),
        ([part('{"p', name="glob"), part('":1}', name="glob")], [("made", "glob", '{"p":1}')]),
        ([part('{"p":1}', name="glob"), part('{"p":2}', name="glob")],
         [("made", "glob", '{"p":1}'), ("made", "glob", '{"p":2}')]),
        ([part('{"p":1}', name="glob"), part("{}", name="read_file")],
         [("made", "glob", '{"p":1}'), ("made", "read_file", "{}")]),
        ([part('{"p":1}', **READ), part('{"q":2}', **LIST)], [("a", "read_file", '{"p":1}'), ("b", "glob", '{"q":2}')]),
        ([part("", **READ, index=None), part('{"p":', index=None), part("1}", index=None),
          part("{}", **LIST, index=None)],
         [("a", "read_file", '{"p":1}'), ("b", "glob", "{}")]),
        ([part("", **READ, index=1), part("", **LIST, index=2), part('{"p":1}', index=1), part("{}", index=2)],
         [("a", "read_file", '{"p":1}'), ("b", "glob", "{}")]),
        ([part("", **READ), part("", **LIST), part('{"p":1}', id="a"), part('{"q":2}', id="b")],
         [("a", "read_file", '{"p":1}'), ("b", "glob", '{"q":2}')]),
        ([part("{}", index=0, id="a", name="glob"), part("{}", index=1, id="a", name="glob")],
         [("a", "glob", "{}"), ("made", "glob", "{}")]),
        ([part("", **READ)], [("a", "read_file", "{}")]),
        ([part(None, **READ)], [("a", "read_file", "{}")]),
        ([part("null", **READ)], [("a", "read_file", "{}")]),
        ([part({"p": "读"}, **READ)], [("a", "read_file", '{"p": "读"}')]),
        ([part('{"p"', **READ), part('{"p":1'), part('{"p":1}')], [("a", "read_file", '{"p":1}')]),
        ([part("{}", **READ), part('{"p":1}')], [("a", "read_file", '{"p": 1}')]),
        ([part('{"p":1}{"p":2}', **READ)], [("a", "read_file", '{"p": 1}'), ("made", "read_file", '{"p": 2}')]),
        ([part('{"p":1}', **READ), part('{"p":1}')], [("a", "read_file", '{"p": 1}')]),
        ([part("not json", **READ)], [("a", "read_file", "not json")]),
        ([part('{"p":"two\nlines"}', **READ)], [("a", "read_file", '{"p": "two\\nlines"}')]),
        ([part("{}", id="a")], []),
    ],
)  # fmt: skip
def test_calls_come_together(fragments: list[dict[str, Any]], calls: list[tuple[str, str, str]]) -> None:
    assert called(*fragments) == calls


def test_calls_count_whatever_the_word_at_the_end() -> None:
    for finish in ("stop", "tool_calls", "end", "eos", "function_call"):
        assert called(part("{}", **READ), finish=finish) == [("a", "read_file", "{}")]


def test_a_growing_call_is_told_by_its_place_and_size() -> None:
    assembler = Assembler(HERE)
    fragments = [part("", **READ), part('{"p'), part("{}", **LIST, index=1)]
    chunks = [{"choices": [{"delta": {"tool_calls": [one]}}]} for one in fragments]
    assert [item for chunk in chunks for item in assembler.feed(chunk)] == [
        CallDelta(0, "read_file", 0),
        CallDelta(0, "read_file", 3),
        CallDelta(1, "glob", 2),
    ]


def test_a_reply_cut_inside_a_call_marks_that_call_broken() -> None:
    fragments = [part('{"p":1}', **READ), part('{"q":"unfinis', **LIST, index=1)]
    reply = assemble(*({"tool_calls": [one]} for one in fragments), finish="length")
    assert reply == Reply(
        AssistantMessage(calls=(ToolCall("a", "read_file", '{"p":1}'), ToolCall("b", "glob", '{"q":"unfinis'))),
        finish="length",
        cut=True,
        broken_calls=frozenset("b"),
    )


@pytest.mark.parametrize(
    ("delta", "reasoning"),
    [
        ({"reasoning_content": "Hm."}, Reasoning("Hm.", "reasoning_content")),
        ({"reasoning": "Hm."}, Reasoning("Hm.", "reasoning")),
        ({"reasoning_text": "Hm."}, Reasoning("Hm.", "reasoning_text")),
        ({"reasoning_content": "Hm.", "reasoning": "Hm."}, Reasoning("Hm.", "reasoning_content")),
        ({"reasoning_content": "", "reasoning": "Hm."}, Reasoning("Hm.", "reasoning")),
        ({"reasoning_content": ""}, Reasoning("", "reasoning_content")),
        ({"reasoning_content": None}, None),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}, Reasoning("Hm.")),
    ],
)
def test_reasoning_is_found_under_whichever_key(delta: dict[str, Any], reasoning: Reasoning | None) -> None:
    said = AssistantMessage("Yes.", reasoning=reasoning)
    assert assemble(delta, {"content": "Yes."}) == Reply(said)


def test_an_empty_key_gives_way_to_one_that_brings_text() -> None:
    assert assemble({"reasoning_content": ""}, {"reasoning": "Hm."}).message.reasoning == Reasoning("Hm.", "reasoning")


def test_content_may_be_parts_and_chunks_may_be_anything() -> None:
    assembler = Assembler(HERE)
    odd: list[Any] = [None, [], {}, {"choices": None}, {"choices": [None]}, {"choices": [{"delta": None}]}]
    assert [assembler.feed(chunk) for chunk in odd] == [[]] * 6
    parts = [{"type": "text", "text": "Hi"}, {"type": "image"}, None]
    assert assembler.feed({"choices": [{"delta": {"content": parts}}]}) == [TextDelta("Hi")]


def test_split_surrogate_pairs_meet_again_and_lone_ones_are_replaced() -> None:
    assembler = Assembler(HERE)
    pieces = ["a\ud83c", "\udf1e", "\udf1e", "b\ud83c"]
    items = [item for one in pieces for item in assembler.feed({"choices": [{"delta": {"content": one}}]})]
    assert items == [TextDelta("a"), TextDelta("🌞"), TextDelta("\ufffd"), TextDelta("b")]
    assert assembler.reply(done=True).message.text == "a🌞\ufffdb\ufffd"


def test_halves_of_characters_meet_in_arguments_too() -> None:
    assert called(part('{"p":"\ud83c', **READ), part('\udf1e\ud83c"}')) == [("a", "read_file", '{"p":"🌞\ufffd"}')]


def test_absurdly_nested_arguments_are_kept_as_they_are() -> None:
    deep = '{"p":' + "[" * 100_000
    assert called(part(deep, **READ)) == [("a", "read_file", deep)]


def test_reasoning_alone_is_told_as_it_comes() -> None:
    assembler = Assembler(HERE)
    assert assembler.feed({"choices": [{"delta": {"reasoning": "Hm"}}]}) == [ReasoningDelta("Hm")]


COUNTS = {"prompt_tokens": 100, "completion_tokens": 5}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (COUNTS, Usage(100, 5)),
        ({**COUNTS, "prompt_tokens_details": {"cached_tokens": 64}}, Usage(100, 5, 64)),
        ({**COUNTS, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 32}, Usage(100, 5, 32)),
        ({**COUNTS, "cached_tokens": 16}, Usage(100, 5, 16)),
        ({"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 8}, Usage(100, 5, 8)),
        ({**COUNTS, "cached_tokens": 900}, Usage(100, 5, 100)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": None}, None),
    ],
)
def test_usage_is_read_wherever_it_counts(usage: dict[str, Any], counted: Usage | None) -> None:
    assert read_usage(usage) == counted


def test_usage_is_found_in_its_usual_places() -> None:
    counted = replace(assemble({"content": "x"}), usage=Usage(100, 5))
    assert assemble({"content": "x"}, usage=COUNTS) == counted
    assert assemble({"content": "x"}, x_groq={"usage": COUNTS}) == counted
    assembler = Assembler(HERE)
    assembler.feed({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop", "usage": COUNTS}]})
    assembler.feed({"choices": [], "usage": None})
    assert assembler.reply(done=False) == counted
