"""JSON with the slips that models make, and what stays an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.loose_json import LooseError, read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it\\'s \"so\"', 'b': True, 'c': None}", {"a": 'it\'s "so"', "b": True, "c": None}),
        ('{"a": "C:\\_x\\d"}', {"a": "C:\\_x\\d"}),
        ('{"a": "one\ntwo\t"}', {"a": "one\ntwo\t"}),
        ('```json\n{"a": "中文"}\n```', {"a": "中文"}),
        ('"{\\"a\\": \\"{}\\"}"', {"a": "{}"}),
        ('{"a": -1.5e3} }', {"a": -1500.0}),
        ("{'a': '\\u4e2d'}", {"a": "中"}),
    ],
)
def test_slips_that_leave_no_doubt_are_forgiven(text: str, value: Any) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "reason", "spot"),
    [
        ('{"path": "a.py", "content": "cut he', "a string without its end", "at character 29, near"),
        ('{"a": [1, 2', "it ends too early", "at the end, near"),
        ('{"a": ', "it ends too early", "at the end, near"),
        ('{"a" 1}', ": expected", "at character 6, near"),
        ('{"a": one}', "a value expected", "at character 7, near"),
        ('{"a": 1} and so on', "something stands behind the value", "at character 9, near"),
        ("", "it ends too early", "at the end"),
        ("[" * 5000, "nested too deeply", "at character"),
    ],
)
def test_what_is_cut_or_doubtful_names_the_spot(text: str, reason: str, spot: str) -> None:
    with pytest.raises(LooseError) as raised:
        read(text)
    assert (str(raised.value), raised.value.spot[: len(spot)]) == (reason, spot)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _VALUES), st.floats(0, 1, exclude_max=True))
def test_json_means_itself_and_no_part_of_it_is_whole(value: dict[str, Any], part: float) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert read(text) == value
    with pytest.raises(LooseError):
        read(text[: int(len(text) * part)])
