"""How `codeagent memory search` finds facts: by the retriever that is set, as a conversation does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from codeagent.cli.output import tell
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Notice
from codeagent.core.ports import Embedder
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.entry import Fact
from codeagent.memory.retriever import KeywordRetriever, Retriever
from codeagent.options import Options
from codeagent.settings import Loaded
from codeagent.text.segment import Segmenter


async def find(options: Options, loaded: Loaded, query: str, facts: Sequence[Fact]) -> list[Fact]:
    """Those that match, best first. Without embeddings `hybrid` finds by words alone, and says so."""
    retriever = await _retriever(options, loaded)
    try:
        await retriever.prepare(query, facts)
        return [hit.fact for hit in retriever.search(query, facts, top=None)]
    finally:
        await retriever.aclose()


async def _retriever(options: Options, loaded: Loaded) -> Retriever:
    kind, words = loaded.settings.memory.retriever, Segmenter(options.home.cache, patient=True).words
    if kind == "keyword":
        return KeywordRetriever(words, _now)
    by_words = Bm25Retriever(words, _now)
    embedder = await _embedder(options, loaded) if kind == "hybrid" else None
    if embedder is None:
        return by_words
    from codeagent.memory.hybrid import HybridRetriever
    from codeagent.memory.vectors import VectorCache

    vectors = VectorCache(options.home.cache / "vectors.db", embedder.name)
    return HybridRetriever(by_words, embedder, vectors, _now, _tell)


async def _embedder(options: Options, loaded: Loaded) -> Embedder | None:
    from codeagent.endpoints import DEFAULT_KIND, Endpoints

    source = loaded.origins["api_key"].source
    endpoints = Endpoints(loaded.settings, options.environ, options.home, options.provider or DEFAULT_KIND, source)
    try:
        connection = await endpoints.connect()
    except CodeAgentError as error:
        tell(f"Facts are found by their words alone, there are no embeddings: {error}")
        return None
    await connection.model.provider.aclose()
    for notice in connection.notices:
        _tell(notice)
    return connection.embedder


def _tell(notice: Notice) -> None:
    tell(str(notice))


def _now() -> datetime:
    return datetime.now(UTC)
