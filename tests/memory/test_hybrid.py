"""Words and meaning together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codeagent.core.events import Notice
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.hybrid import FAILURES, LONGEST, HybridRetriever
from codeagent.memory.vectors import VectorCache
from tests.memory._finding import Meanings, fact, ids
from tests.memory._world import Clock, split

FACTS = [
    fact("我不吃花生", "nuts"),
    fact("测试数据库的端口是 5433", "port"),
    fact("缩进用两个空格", "indent"),
    fact("提交前先跑测试", "tests"),
]


class World:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.embedder = Meanings()
        self.notices: list[Notice] = []
        self.retriever = self.open()

    def open(self, patience: float = 30) -> HybridRetriever:
        vectors = VectorCache(self.path / "vectors.db", self.embedder.name)
        words = Bm25Retriever(split, Clock())
        return HybridRetriever(words, self.embedder, vectors, Clock(), self.notices.append, patience=patience)

    def by_words(self, query: str) -> list[str]:
        return ids(Bm25Retriever(split, Clock()), query, FACTS)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path)
    yield made
    await made.retriever.aclose()


async def test_what_shares_no_word_is_found_by_its_meaning(world: World) -> None:
    query = "有什么坚果要当心"
    await world.retriever.prepare(query, FACTS)
    assert (ids(world.retriever, query, FACTS)[0], world.by_words(query)) == ("nuts", [])


async def test_words_and_meaning_count_half_each(world: World) -> None:
    await world.retriever.prepare("花生 测试", FACTS)
    scores = {hit.fact.id: hit.score for hit in world.retriever.search("花生 测试", FACTS)}
    assert 0.5 <= scores["nuts"] <= 1
    assert all(0 < score <= 0.5 for id, score in scores.items() if id != "nuts")


async def test_what_was_not_prepared_is_found_by_words(world: World) -> None:
    assert ids(world.retriever, "数据库 5433", FACTS) == world.by_words("数据库 5433")
    await world.retriever.prepare("", FACTS)
    assert ids(world.retriever, "数据库 5433", FACTS) == world.by_words("数据库 5433")


async def test_each_fact_is_embedded_once_for_all_processes(world: World) -> None:
    await world.retriever.prepare("坚果", FACTS)
    await world.retriever.prepare("端口", FACTS)
    assert sorted(kind for _, kind in world.embedder.asked) == ["passage", "query", "query"]
    await world.retriever.aclose()
    world.embedder.asked.clear()
    world.retriever = world.open()
    await world.retriever.prepare("坚果", [*FACTS, fact("新来的")])
    assert sorted(world.embedder.asked) == [(["坚果"], "query"), (["新来的"], "passage")]


async def test_a_forgotten_or_expired_fact_is_not_found(world: World) -> None:
    await world.retriever.prepare("坚果", FACTS)
    assert "nuts" not in ids(world.retriever, "坚果", FACTS[1:])
    expired = [fact("我不吃花生", "nuts", expires="2026-04-30T00:00:00Z"), *FACTS[1:]]
    assert "nuts" not in ids(world.retriever, "坚果", expired)


async def test_of_a_long_message_the_beginning_is_embedded(world: World) -> None:
    await world.retriever.prepare("坚果" * 5_000, FACTS)
    [asked] = [texts for texts, kind in world.embedder.asked if kind == "query"]
    assert len(asked[0]) == LONGEST


async def test_without_facts_nobody_is_asked(world: World) -> None:
    await world.retriever.prepare("坚果", [])
    assert (world.embedder.asked, ids(world.retriever, "坚果", [])) == ([], [])


async def test_a_failure_is_told_once_and_words_are_enough(world: World) -> None:
    world.embedder.fails = 100
    for _ in range(4):
        await world.retriever.prepare("数据库 5433", FACTS)
        assert ids(world.retriever, "数据库 5433", FACTS) == world.by_words("数据库 5433")
    assert [str(notice) for notice in world.notices] == [
        "Facts are found by their words alone, there are no embeddings: The endpoint has no embeddings."
    ]
    assert len(world.embedder.asked) <= FAILURES + 1


async def test_a_passing_failure_is_passing(world: World) -> None:
    world.embedder.fails = 1
    await world.retriever.prepare("有什么坚果要当心", FACTS)
    await world.retriever.prepare("有什么坚果要当心", FACTS)
    assert ids(world.retriever, "有什么坚果要当心", FACTS)[0] == "nuts"


async def test_many_new_facts_do_not_hold_a_message_up_for_long(world: World) -> None:
    """While their vectors are being made the message goes on; once they are there they are used."""
    world.retriever = world.open(patience=0.05)
    world.embedder.gate.clear()
    await world.retriever.prepare("坚果", FACTS)
    assert ids(world.retriever, "坚果", FACTS) == world.by_words("坚果")
    world.embedder.gate.set()
    while ids(world.retriever, "坚果", FACTS)[:1] != ["nuts"]:
        await world.retriever.prepare("坚果", FACTS)


async def test_closing_ends_what_goes_on_in_the_background(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.embedder.gate.clear()
    await world.retriever.prepare("", FACTS)
    await world.retriever.aclose()
    assert world.embedder.closed
    assert asyncio.all_tasks() == {asyncio.current_task()}
