"""Passages by meaning: what is embedded, and what is answered where nothing can be."""

from __future__ import annotations

import pytest

from codeagent.memory.hybrid import FAILURES
from codeagent.memory.nearness import Nearness
from tests.memory._finding import Meanings

PASSAGES = ["我不吃花生", "端口是 5433", "缩进用两个空格"]


async def test_the_nearest_is_1_and_what_is_far_0() -> None:
    assert await Nearness(Meanings())("有什么坚果要当心", PASSAGES) == pytest.approx([1, 0, 0])
    assert await Nearness(Meanings())("which port", PASSAGES) == pytest.approx([0, 1, 0])


async def test_a_passage_is_embedded_once_and_nothing_that_was_not_asked_for() -> None:
    embedder = Meanings()
    near = Nearness(embedder)
    await near("坚果", PASSAGES[:2])
    await near("端口", [*PASSAGES, PASSAGES[0]])
    assert embedder.asked == [
        (["坚果"], "query"),
        (PASSAGES[:2], "passage"),
        (["端口"], "query"),
        (PASSAGES[2:], "passage"),
    ]
    assert await near("x", []) is None


async def test_without_embeddings_it_says_nothing_and_soon_asks_no_more() -> None:
    embedder = Meanings()
    embedder.fails = FAILURES
    near = Nearness(embedder)
    assert [await near("坚果", PASSAGES) for _ in range(FAILURES + 1)] == [None] * (FAILURES + 1)
    assert len(embedder.asked) == FAILURES


async def test_it_waits_no_longer_than_its_patience() -> None:
    embedder = Meanings()
    embedder.gate.clear()
    near = Nearness(embedder, patience=0.01)
    assert await near("坚果", PASSAGES) is None
    embedder.gate.set()
    assert await near("坚果", PASSAGES) == pytest.approx([1, 0, 0])
