"""Vectors from an endpoint."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from codeagent.core.errors import AuthError, ModelError
from codeagent.core.ports import Embedder
from codeagent.llm.embeddings import EndpointEmbedder
from tests.llm._playing import endpoint
from tests.server.endpoint import JSON, Response, ScriptedEndpoint, refusal

PATH = "/v1/embeddings"


def answer(value: Any) -> Response:
    return Response((json.dumps(value).encode(),), headers=JSON)


async def test_texts_are_sent_together_and_vectors_come_in_their_order() -> None:
    data = [{"index": 1, "embedding": [0, 1.5]}, {"index": 0, "embedding": [1, 0]}]
    async with (
        ScriptedEndpoint(routes={PATH: answer({"object": "list", "data": data})}) as server,
        aclosing(EndpointEmbedder(endpoint(server))) as opened,
    ):
        embedder: Embedder = opened
        assert await embedder.embed(["端口", "half \ud800"], "passage") == [[1, 0], [0, 1.5]]
    [request] = server.others
    assert (request.line, request.json) == (("POST", PATH), {"model": "m", "input": ["端口", "half \ufffd"]})


async def test_vectors_without_numbers_keep_the_order_they_came_in() -> None:
    data = [{"embedding": [1, 0]}, {"embedding": [0, 1]}]
    async with (
        ScriptedEndpoint(routes={PATH: answer({"data": data})}) as server,
        aclosing(EndpointEmbedder(endpoint(server))) as embedder,
    ):
        assert await embedder.embed(["a", "b"], "query") == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"data": None},
        {"data": [3]},
        {"data": [{"embedding": [1, 0]}]},
        {"data": [{"embedding": [1, 0]}, {"embedding": [1]}]},
        {"data": [{"embedding": [1, 0]}, {"embedding": [0, 0]}]},
        {"data": [{"embedding": [1, 0]}, {"embedding": ["1", 0]}]},
        {"data": [{"embedding": [1, 0]}, {"embedding": "AAAA"}]},
        {"data": [{"embedding": [1, 0]}, {"embedding": []}]},
    ],
)
async def test_what_are_no_vectors_is_refused(value: Any) -> None:
    async with (
        ScriptedEndpoint(routes={PATH: answer(value)}) as server,
        aclosing(EndpointEmbedder(endpoint(server))) as embedder,
    ):
        with pytest.raises(ModelError, match="no usable embeddings"):
            await embedder.embed(["a", "b"], "query")


async def test_a_refusal_says_why() -> None:
    async with (
        ScriptedEndpoint(routes={PATH: refusal(401, "no key")}) as server,
        aclosing(EndpointEmbedder(endpoint(server))) as embedder,
    ):
        with pytest.raises(AuthError):
            await embedder.embed(["a"], "query")


async def test_an_endpoint_without_embeddings_is_told_as_one() -> None:
    async with ScriptedEndpoint() as server, aclosing(EndpointEmbedder(endpoint(server))) as embedder:
        with pytest.raises(ModelError) as raised:
            await embedder.embed(["a"], "query")
    assert str(raised.value) == (
        f"There is no /embeddings at {server.base_url}: status 404, nothing at {PATH}. Check the base URL."
    )


async def test_names_tell_endpoints_and_models_apart() -> None:
    async with ScriptedEndpoint() as one, ScriptedEndpoint() as other:
        names = {EndpointEmbedder(endpoint(server)).name for server in (one, other)}
    assert len(names) == 2
