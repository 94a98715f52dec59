"""Bytes to values: the cuts of the transport never matter."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.llm.sse import DONE, EventReader


def read(*pieces: bytes) -> list[Any]:
    reader = EventReader()
    return [value for piece in pieces for value in reader.feed(piece)] + list(reader.finish())


@pytest.mark.parametrize(
    ("stream", "values"),
    [
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', [{"a": 1}, DONE]),
        (b'data:{"a":1}\r\n\r\ndata:{"a":2}\r\n\r\n', [{"a": 1}, {"a": 2}]),
        (b'data: {"a":1}\ndata: {"a":2}\n', [{"a": 1}, {"a": 2}]),
        (b'data: {"a":1}', [{"a": 1}]),
        (b': ping\n\nevent: x\nid: 3\nretry: 9\ndata: {"a":1}\n\n', [{"a": 1}]),
        (b'data: {\ndata:   "a": {"b": 1}\ndata: }\n\n', [{"a": {"b": 1}}]),
        (b"data: ping\n\ndata:\n\ndata: null\n\n", []),
        (b'data: {"a":"\xff"}\n\n', [{"a": "\ufffd"}]),
        (b'data: {"a":"\t"}\n\n', [{"a": "\t"}]),
        (b"", []),
    ],
)
def test_events_are_read(stream: bytes, values: list[Any]) -> None:
    assert read(stream) == values


@pytest.mark.parametrize("stream", [b'data: {"a":\n\n', b'data: {"a":1', b'data: {"a"}\n\ndata: {"b":1}\n\n'])
def test_a_garbled_event_is_an_error(stream: bytes) -> None:
    with pytest.raises(ValueError, match=r"delimiter|Expecting"):
        read(stream)


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=6), max_size=2), max_size=4),
    st.sampled_from([b"\n\n", b"\r\n\r\n", b"\n: comment\n\n"]),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_the_cuts_never_matter(values: list[Any], end: bytes, cuts: list[int]) -> None:
    stream = b"".join(b"data: " + json.dumps(value, ensure_ascii=False).encode() + end for value in values)
    marks = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:stop] for start, stop in pairwise(marks)]
    assert read(*pieces) == values
