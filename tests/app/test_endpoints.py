"""What a connection says of itself."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.paths import Home
from codeagent.endpoints import Endpoints
from codeagent.settings import load_settings


async def test_a_connection_names_its_endpoint_and_model(tmp_path: Path) -> None:
    home = Home(tmp_path)
    flags = {"base_url": "http://127.0.0.1:9/v1", "model": "qwen3-coder", "context_window": 32_000}
    endpoints = Endpoints(load_settings(flags, {}, home, None).settings, {}, home)
    connection, other = await endpoints.connect(), await endpoints.connect("glm-4.6")
    assert (connection.place, other.place) == ("http://127.0.0.1:9/v1 qwen3-coder", "http://127.0.0.1:9/v1 glm-4.6")
    for each in (connection, other):
        await each.model.provider.aclose()
