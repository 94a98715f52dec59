"""What texts are found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.text.terms import QueryTerms, document_terms, eastern, query_terms, stem


def words(text: str) -> list[str]:
    """A dictionary of four words."""
    cut, at = [], 0
    while at < len(text):
        word = next((known for known in ("数据库", "端口", "什么", "坚果") if text.startswith(known, at)), text[at])
        cut.append(word)
        at += len(word)
    return cut


def test_chinese_is_found_by_its_characters_and_pairs() -> None:
    assert document_terms("数据库") == ["数", "据", "库", "数据", "据库"]


def test_runs_end_at_punctuation_and_stop_characters_are_no_terms_alone() -> None:
    assert document_terms("我的库，端口") == ["库", "我的", "的库", "端", "口", "端口"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("MemoryManager", ["memorymanager", "memory", "manager"]),
        ("memory_manager", ["memory_manager", "memory", "manager"]),
        ("HTTPServer2", ["httpserver2", "http", "server"]),
        ("a.b_c", ["a.b_c", "b_c"]),
        ("src/app.py", ["src/app.py", "src", "app", "py"]),
        ("port:5433", ["port:5433", "port", "5433"]),
        ("ＰＯＲＴ ５４３３", ["port", "5433"]),
        ("the cache of the caches", ["cach", "cach"]),
        ("naïve Straße", ["naïve", "straße"]),
    ],
)
def test_identifiers_count_whole_and_in_parts(text: str, terms: list[str]) -> None:
    assert document_terms(text) == terms


@pytest.mark.parametrize(
    "forms",
    [
        ("cache", "caches", "cached", "caching"),
        ("try", "tries", "tried"),
        ("run", "runs", "running"),
        ("test", "tests", "tested", "testing"),
        ("pass", "passes", "passed", "passing"),
        ("setting", "settings"),
    ],
)
def test_forms_of_a_word_are_one_term(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_words_that_only_look_like_forms_stay() -> None:
    kept = ["class", "status", "this", "string", "red", "bed", "ring", "bus", "日志s"]
    assert [stem(word) for word in kept] == kept


def test_a_query_is_cut_at_its_stop_words_and_long_words_weigh_less_by_piece() -> None:
    half, third = 2**-0.5, 3**-0.5
    assert query_terms("数据库什么端口", words).weights == {
        **dict.fromkeys(["数", "据", "库", "数据", "据库"], third),
        **dict.fromkeys(["端", "口", "端口"], half),
    }


def test_what_two_words_share_weighs_less_than_a_word() -> None:
    weights = query_terms("坚果端口", words).weights
    assert (weights["坚果"], weights["果端"], weights["端口"]) == (2**-0.5, 0.5, 2**-0.5)


def test_a_query_of_stop_words_alone_is_taken_as_it_is() -> None:
    assert query_terms("什么", words).weights == dict.fromkeys(["什", "么", "什么"], 2**-0.5)
    assert query_terms("the", words) == QueryTerms({}, frozenset())


@given(st.text())
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    """Whatever is in a query is in a document of the same text, however it is cut."""
    assert query_terms(text, words).weights.keys() <= set(document_terms(text))


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("数据库的端口", {"数据", "据库", "端口"}),  # no single character of a longer query
        ("端口", {"端口"}),
        ("我的狗叫什么", {"狗", "叫", "狗叫"}),  # so short a query may find by one
        ("狗", {"狗"}),
        ("狗的端口 redis", {"端口", "redis"}),
        ("狗在树上的家", {"树上"}),
        ("狗的树的花", {"狗", "树", "花"}),  # there is nothing else
    ],
)
def test_by_which_terms_alone_a_text_is_found(query: str, telling: set[str]) -> None:
    assert query_terms(query, words).telling == telling


def test_which_texts_need_words_of_chinese() -> None:
    assert [eastern(text) for text in ("plain", "café — ½", "端口", "port 端", "ｶﾅ", "한국어")] == [False] * 2 + [
        True
    ] * 4
