"""The keyword rule, number by number."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.entry import Fact, stamp
from codeagent.memory.retriever import LONG_TERM, TOP, KeywordRetriever
from codeagent.text.segment import Segmenter
from tests.memory._world import START, Clock, split


def fact(content: str, id: str = "f1", updated: str = stamp(START), expires: str | None = None) -> Fact:
    return Fact(id, content, created=updated, updated=updated, expires=expires)


def scores(query: str, *facts: Fact, hours: float = 0) -> list[tuple[str, float]]:
    clock = Clock()
    clock.pass_hours(hours)
    hits = KeywordRetriever(split, clock).search(query, facts)
    return [(hit.fact.id, round(hit.score, 6)) for hit in hits]


@pytest.mark.parametrize(("hours", "score"), [(0, 1.2), (12, 0.9), (24, 0.6), (24 * 365, 0.6)])
def test_the_whole_query_contained(hours: float, score: float) -> None:
    assert scores("database port", fact("The Database Port is 5433."), hours=hours) == [("f1", score)]


@pytest.mark.parametrize(("hours", "score"), [(0, 0.6), (12, 0.45), (24, 0.3)])
def test_half_of_its_words(hours: float, score: float) -> None:
    assert scores("port redis", fact("The port is 5433."), hours=hours) == [("f1", score)]


AGES = st.floats(0, 24 * 400)


@given(AGES, AGES)
def test_the_older_never_weighs_more_and_nothing_less_than_half(one: float, other: float) -> None:
    """1 now, half after a day and for ever, a straight line between; what seems to come from the future is of now."""
    young, old = sorted((one, other))
    weights = [_weight(hours) for hours in (young, old)]
    assert 1.0 >= weights[0] >= weights[1] >= 0.5
    assert weights == pytest.approx([max(0.5, 1 - hours / 48) for hours in (young, old)], abs=1e-4)
    assert (_weight(0), _weight(-old), _weight(24 + old)) == (1.0, 1.0, 0.5)


def _weight(hours: float) -> float:
    """What age leaves of the score of a fact that holds the whole query."""
    clock = Clock()
    clock.pass_hours(hours)
    (hit,) = KeywordRetriever(split, clock).search("port", [fact("The port.")])
    return hit.score / LONG_TERM


def test_chinese_words_count_as_jieba_cuts_them(tmp_path: Path) -> None:
    retriever = KeywordRetriever(Segmenter(tmp_path, patient=True).words, Clock())
    hits = retriever.search("数据库，密码！", [fact("测试用的数据库在 atlas 上")])
    assert [hit.score for hit in hits] == [0.6]


def test_no_word_no_hit() -> None:
    assert scores("redis", fact("The port is 5433.")) == []
    assert scores("   ", fact("The port is 5433.")) == []
    assert scores("？！", fact("The port is 5433.")) == []


def test_the_best_come_first_and_the_newer_of_equals() -> None:
    old, new = "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z"
    facts = (fact("port", "a", old), fact("port and host", "b", new), fact("only the host", "c", new))
    assert scores("port and host", *facts) == [("b", 0.6), ("c", 0.2), ("a", 0.2)]


def test_ten_at_most() -> None:
    assert len(scores("port", *(fact("port", f"f{number}") for number in range(30)))) == TOP == 10


def test_what_has_expired_is_not_found_and_an_unknown_time_is_an_old_one() -> None:
    past, future = "2026-04-30T00:00:00Z", "2026-05-02T00:00:00Z"
    facts = (fact("port", "a", expires=past), fact("port", "b", expires=future), fact("port", "c", updated="yesterday"))
    assert scores("port", *facts) == [("b", 1.2), ("c", 0.6)]


def test_without_facts_nothing_is_cut() -> None:
    def words(text: str) -> list[str]:
        raise AssertionError("cut for nothing")

    assert KeywordRetriever(words, Clock()).search("数据库端口", []) == []


@given(st.text(), st.text(min_size=1), st.floats(0, 1000))
def test_scores_stay_between_nothing_and_the_weight(query: str, content: str, hours: float) -> None:
    assert all(0 < score <= 1.2 for _, score in scores(query, fact(content), hours=hours))
