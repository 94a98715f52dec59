"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from codeagent.text.patterns import late


def test_it_is_the_pattern_it_stands_for() -> None:
    pattern, same = late("(a+)(?P<word>b)", re.I), re.compile("(a+)(?P<word>b)", re.I)
    assert (pattern.pattern, pattern.flags, pattern.groups) == (same.pattern, same.flags, same.groups)
    assert [found.groups() for found in pattern.finditer("xAABab")] == [("AA", "B"), ("a", "b")]
    assert (pattern.sub("-", "aab ab"), pattern.fullmatch("x")) == ("- -", None)


def test_nothing_is_compiled_before() -> None:
    broken = late("(")
    assert broken.pattern == "("
    with pytest.raises(re.error):
        broken.search("x")
