"""Shared by the tests of this folder: a client for a scripted endpoint, and what comes out of it."""

from __future__ import annotations

from typing import Any

from codeagent.core.messages import UserMessage, encode
from codeagent.core.ports import Endpoint, Provider, Reply, Request, StreamItem
from codeagent.llm.providers.openai_chat import OpenAIChat
from tests.server.endpoint import ScriptedEndpoint

KEY = "sk-secret-0123456789"
HI = Request("m", (encode(UserMessage("hi")),))


def client(server: ScriptedEndpoint, **fields: Any) -> OpenAIChat:
    return OpenAIChat(endpoint(server, **fields))


def endpoint(server: ScriptedEndpoint, **fields: Any) -> Endpoint:
    return Endpoint(**{"base_url": server.base_url, "api_key": KEY, "model": "m", **fields})


async def play(provider: Provider, request: Request = HI) -> list[StreamItem]:
    return [item async for item in provider.stream(request)]


async def ask(provider: Provider, request: Request = HI) -> Reply:
    *_, last = await play(provider, request)
    assert isinstance(last, Reply)
    return last
