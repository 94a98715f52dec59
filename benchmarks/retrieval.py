"""How well and how fast facts are found: python -m benchmarks.retrieval [folder with cmrc2018_trial.json]

Which sentence, and which passage, holds the answer to a question: the share of questions for which it is the first hit,
and one of the first ten. Then milliseconds a query among 1 000, 10 000 and 100 000 facts, and how long the first one
takes, which indexes them. `hybrid` is measured with the local embedding model where it is installed, and its speed with
vectors from a stand-in that costs nothing.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from benchmarks._measure import row
from codeagent.core.ports import Embedder
from codeagent.llm.embeddings import LocalEmbedder, has_local_model
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.entry import Fact
from codeagent.memory.hybrid import HybridRetriever
from codeagent.memory.retriever import KeywordRetriever, Retriever
from codeagent.memory.vectors import VectorCache
from codeagent.text.segment import Segmenter

SIZES = (1_000, 10_000, 100_000)
LONG_AGO = "2020-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    sentence: int
    passage: int
    """Numbers of those that hold the answer."""


@dataclass(frozen=True, slots=True)
class Corpus:
    name: str
    sentences: list[str]
    passages: list[str]
    questions: list[Question]


Make = Callable[[Sequence[str]], Awaitable[Retriever]]
"""Texts -> a retriever that knows the vectors of those texts, where it needs any."""


class StandIn:
    """Vectors that mean nothing, at once."""

    name = "stand-in"

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        return [[generator.uniform(-1, 1) for _ in range(384)] for generator in map(random.Random, texts)]

    async def aclose(self) -> None: ...


def read_cmrc(file: Path) -> Corpus:
    sentences: list[str] = []
    passages: list[str] = []
    questions = []
    for article in json.loads(file.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            starts = {}
            for found in re.finditer(r"[^。！？!?\n]+[。！？!?\n]*", text):
                starts.update(dict.fromkeys(range(*found.span()), len(sentences)))
                sentences.append(found[0])
            for asked in paragraph["qas"]:
                at = starts.get(asked["answers"][0]["answer_start"])
                if at is not None:
                    questions.append(Question(asked["question"], at, len(passages)))
            passages.append(text)
    return Corpus("CMRC 2018 trial", sentences, passages, questions)


def made_up(services: int = 60) -> Corpus:
    """Facts about services that do not exist, in two languages."""
    chance = random.Random(1)
    syllables = ["ka", "lo", "mi", "ter", "dra", "vex", "zu", "pho", "nar", "el"]
    sentences: list[str] = []
    passages = []
    questions = []
    for number in range(services):
        name = "".join(chance.sample(syllables, 3))
        port, owner = chance.randint(1024, 65535), chance.choice(["支付", "搜索", "推荐", "订单"])
        facts = [
            (f"{name} 服务监听 {port} 端口。", f"{name} 的端口是多少？"),
            (f"{name} 由{owner}组维护，上线前要通知他们。", f"谁在维护 {name}？"),
            (f"The logs of {name}_worker are kept for {port % 90} days.", f"How long does {name}_worker keep its log?"),
        ]
        questions += [Question(asked, len(sentences) + at, number) for at, (_, asked) in enumerate(facts)]
        sentences += [told for told, _ in facts]
        passages.append("".join(told for told, _ in facts))
    return Corpus("made up", sentences, passages, questions)


def as_facts(texts: Sequence[str]) -> list[Fact]:
    return [Fact(str(number), text, updated=LONG_AGO) for number, text in enumerate(texts)]


async def quality(corpus: Corpus, make: Make) -> list[float]:
    """Sentence hit@1, hit@10, passage hit@1, hit@10."""
    shares = []
    for texts, wanted in ((corpus.sentences, "sentence"), (corpus.passages, "passage")):
        facts = as_facts(texts)
        retriever = await make(texts)
        first = ten = 0
        for question in corpus.questions:
            await retriever.prepare(question.text, facts)
            ids = [hit.fact.id for hit in retriever.search(question.text, facts)]
            answer = str(getattr(question, wanted))
            first += answer in ids[:1]
            ten += answer in ids
        shares += [first / len(corpus.questions), ten / len(corpus.questions)]
        await retriever.aclose()
    return shares


async def speed(corpus: Corpus, make: Make, size: int) -> tuple[float, float]:
    """Milliseconds of the first query, and of one of those that follow."""
    texts = [f"{corpus.sentences[n % len(corpus.sentences)][:60]} #{n}" for n in range(size)]
    facts, retriever = as_facts(texts), await make(texts)
    questions = [question.text for question in corpus.questions[:200:10]]
    times = []
    for question in questions:
        started = time.perf_counter()
        await retriever.prepare(question, facts)
        retriever.search(question, facts)
        times.append((time.perf_counter() - started) * 1000)
    await retriever.aclose()
    return times[0], sorted(times[1:])[len(times) // 2]


def _now() -> datetime:
    return datetime.now(UTC)


async def main(folder: Path | None) -> None:
    file = folder / "cmrc2018_trial.json" if folder else None
    corpus = read_cmrc(file) if file and file.exists() else made_up()
    with tempfile.TemporaryDirectory(prefix="codeagent-bench-") as place:
        words = Segmenter(Path(place), patient=True).words
        words("记忆")

        async def keyword(texts: Sequence[str]) -> Retriever:
            return KeywordRetriever(words, _now)

        async def bm25(texts: Sequence[str]) -> Retriever:
            return Bm25Retriever(words, _now)

        async def hybrid(embedder: Embedder, texts: Sequence[str]) -> Retriever:
            vectors = VectorCache(Path(tempfile.mkdtemp(dir=place)) / "vectors.db", embedder.name)
            for start in range(0, len(texts), 1_000):
                batch = texts[start : start + 1_000]
                vectors.put(batch, await embedder.embed(batch, "passage"))
            return HybridRetriever(Bm25Retriever(words, _now), embedder, vectors, _now, print)

        by_words: dict[str, Make] = {"keyword": keyword, "bm25": bm25}
        local: dict[str, Make] = {"hybrid": lambda texts: hybrid(LocalEmbedder(), texts)} if has_local_model() else {}
        print(f"{corpus.name}: {len(corpus.questions)} questions, {len(corpus.sentences)} sentences")
        row("", "sentence @1", "@10", "passage @1", "@10")
        for name, make in {**by_words, **local}.items():
            row(name, *(f"{share:.3f}" for share in await quality(corpus, make)))
        print()
        row("milliseconds a query (the first one)", *(f"{size:,} facts" for size in SIZES))
        for name, make in {**by_words, "hybrid, embeddings free": lambda texts: hybrid(StandIn(), texts)}.items():
            figures = [await speed(corpus, make, size) for size in SIZES]
            row(name, *(f"{later:.1f} ({first:.0f})" for first, later in figures))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
