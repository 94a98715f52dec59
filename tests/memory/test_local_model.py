"""Hybrid retrieval with the model that comes as an extra."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.llm.embeddings import LocalEmbedder
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.hybrid import HybridRetriever
from codeagent.memory.vectors import VectorCache
from codeagent.text.segment import Segmenter
from tests.memory._finding import fact, ids
from tests.memory._world import Clock

FACTS = [
    fact("我不吃花生", "nuts"),
    fact("测试数据库的端口是 5433", "port"),
    fact("提交前先跑测试", "tests"),
    fact("Use pnpm, never npm", "pnpm"),
    fact("我住在杭州", "home"),
    fact("The staging server restarts every night at 3", "staging"),
]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("有什么坚果要注意的", "nuts"),
        ("which package manager?", "pnpm"),
        ("西湖离我远吗", "home"),
    ],
)
async def test_what_shares_no_word_is_answered(tmp_path: Path, query: str, wanted: str) -> None:
    embedder = LocalEmbedder()
    vectors = VectorCache(tmp_path / "vectors.db", embedder.name)
    vectors.put([one.content for one in FACTS], await embedder.embed([one.content for one in FACTS], "passage"))
    words = Bm25Retriever(Segmenter(tmp_path, patient=True).words, Clock())
    retriever = HybridRetriever(words, embedder, vectors, Clock(), lambda notice: pytest.fail(str(notice)))
    await retriever.prepare(query, FACTS)
    assert ids(retriever, query, FACTS)[0] == wanted
    await retriever.aclose()
