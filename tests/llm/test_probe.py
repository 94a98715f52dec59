"""What endpoints tell about their models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.core.errors import AuthError, ModelError
from codeagent.llm.probe import context_window, list_models
from tests.llm._playing import endpoint
from tests.server.endpoint import JSON, Response, ScriptedEndpoint, refusal


def answer(value: Any) -> Response:
    return Response((json.dumps(value).encode(),), headers=JSON)


async def test_models_are_listed_in_the_order_of_the_endpoint() -> None:
    async with ScriptedEndpoint(models=("b", "a")) as server:
        assert await list_models(endpoint(server)) == ["b", "a"]
    async with ScriptedEndpoint(routes={"/v1/models": answer([{"id": "bare"}, {}, 3])}) as server:
        assert await list_models(endpoint(server)) == ["bare"]
    async with ScriptedEndpoint(routes={"/v1/models": answer({"data": None})}) as server:
        assert await list_models(endpoint(server)) == []


async def test_an_endpoint_that_lists_nothing_says_why() -> None:
    async with ScriptedEndpoint(routes={"/v1/models": refusal(401, "no key")}) as server:
        with pytest.raises(AuthError):
            await list_models(endpoint(server))
    async with ScriptedEndpoint(routes={"/v1/models": refusal(404, "no")}) as server:
        with pytest.raises(ModelError):
            await list_models(endpoint(server))


LISTED = {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32_768}]}


@pytest.mark.parametrize(
    ("routes", "window"),
    [
        ({"/v1/models": LISTED}, 32_768),
        ({"/v1/models": {"data": [{"id": "m", "context_length": 163_840}]}}, 163_840),
        ({"/v1/models": {"data": [{"id": "m"}]}}, None),
        ({"/props": {"default_generation_settings": {"n_ctx": 8192}}, "/v1/models": LISTED}, 8192),
        ({"/api/ps": {"models": [{"model": "m", "context_length": 4096}]}}, 4096),
        ({"/api/show": {"parameters": "top_k 1\nnum_ctx  16384", "model_info": {"q.context_length": 40_960}}}, 16_384),
        ({"/api/show": {"model_info": {"qwen3.block_count": 3, "qwen3.context_length": 40_960}}}, 40_960),
        ({"/props": [1], "/api/ps": "no", "/api/show": None}, None),
    ],
)  # fmt: skip
async def test_the_window_is_what_the_server_runs_with(routes: dict[str, Any], window: int | None) -> None:
    async with ScriptedEndpoint(routes={path: answer(value) for path, value in routes.items()}) as server:
        assert await context_window(endpoint(server)) == window


async def test_a_server_that_is_gone_tells_nothing() -> None:
    async with ScriptedEndpoint() as server:
        pass
    assert await context_window(endpoint(server)) is None
