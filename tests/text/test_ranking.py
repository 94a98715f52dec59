"""BM25: what it ranks, and that an index that has changed ranks as a new one does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.text.ranking import FORMAT, LENGTH, SATURATION, Bm25
from codeagent.text.terms import QueryTerms

TEXTS = st.lists(st.sampled_from(["red", "black", "pink", "数据", "端口"]), max_size=6).map(" ".join)


def index(*texts: str) -> Bm25:
    made = Bm25()
    for text in texts:
        made.add(text)
    return made


def terms(**weights: float) -> QueryTerms:
    return QueryTerms(weights, frozenset(weights))


def ranked(made: Bm25, **query: float) -> list[str]:
    scores = made.best(terms(**query))
    return sorted(scores, key=lambda text: -scores[text])


def test_the_score_is_that_of_the_formula() -> None:
    scores = index("red black", "red red pink", "pink").best(terms(red=2.0))
    rarity, mean = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), 6 / 3

    def score(times: int, length: int) -> float:
        return 2 * rarity * times * (SATURATION + 1) / (times + SATURATION * (1 - LENGTH + LENGTH * length / mean))

    assert scores == pytest.approx({"red black": score(1, 2), "red red pink": score(2, 3)})


def test_rare_words_count_more_and_what_shares_none_is_not_found() -> None:
    made = index("red one", "red two", "red three", "black four", "pink five")
    assert ranked(made, red=1, black=1)[0] == "black four"
    assert "pink five" not in ranked(made, red=1, black=1)
    assert made.best(terms(absent=1)) == Bm25().best(terms(red=1)) == {}


def test_the_best_come_with_what_equals_the_last_of_them() -> None:
    made = index("red", "red black", "black red", "red pink black")
    assert set(made.best(terms(red=1), 1)) == {"red"}
    assert set(made.best(terms(red=1), 2)) == {"red", "red black", "black red"}


def test_what_does_not_tell_finds_only_beside_another_term() -> None:
    made = index("red", "black", "red black", "pink black")
    query = QueryTerms({"red": 1, "black": 1, "pink": 1}, frozenset(["red"]))
    assert set(made.best(query)) == {"red", "red black", "pink black"}
    assert made.best(query)["red black"] == made.best(terms(red=1, black=1))["red black"]


def test_it_knows_what_it_holds() -> None:
    made = index("red", "black")
    made.remove("red")
    assert (list(made), len(made), "red" in made, "black" in made) == (["black"], 1, False, True)


def test_rarest_terms_come_first_where_there_are_too_many_to_look_at_all() -> None:
    made = index(*(f"common everywhere {number}" for number in range(60_000)), "common needle")
    assert list(made.best(terms(common=1, everywhere=1, needle=1), 1)) == ["common needle"]


@given(st.lists(TEXTS, unique=True), st.data())
def test_after_additions_and_removals_it_ranks_as_a_new_index_does(texts: list[str], data: st.DataObject) -> None:
    made = index(*texts)
    gone = data.draw(st.lists(st.sampled_from(texts), unique=True)) if texts else []
    back = data.draw(st.lists(st.sampled_from(gone), unique=True)) if gone else []
    for text in gone:
        made.remove(text)
    for text in back:
        made.add(text)
    if data.draw(st.booleans()):
        read = Bm25.load(made.dump())
        assert read is not None
        made = read
    fresh = index(*(text for text in texts if text not in gone or text in back))
    query = QueryTerms({"red": 1.0, "black": 0.5, "数据": 0.7, "端": 0.7, "absent": 1.0}, frozenset(["red", "数据"]))
    assert made.best(query) == pytest.approx(fresh.best(query))
    assert sorted(made) == sorted(fresh)


def test_what_was_read_can_be_changed() -> None:
    read = Bm25.load(index("red black", "red").dump())
    assert read is not None
    read.remove("red")
    read.add("red pink")
    assert read.best(terms(red=1)) == pytest.approx(index("red black", "red pink").best(terms(red=1)))


@pytest.mark.parametrize("damage", ["empty", "cut short", "changed", "another version", "other data"])
def test_a_damaged_index_is_not_read(damage: str) -> None:
    whole = index("red", "black 端口").dump()
    damaged = {
        "empty": b"",
        "cut short": whole[:-1],
        "changed": whole[:-1] + bytes([whole[-1] ^ 1]),
        "another version": b"x" + whole[1:],
        "other data": FORMAT + b"\0" * 40,
    }[damage]
    assert Bm25.load(damaged) is None
