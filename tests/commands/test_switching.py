"""Another model in the middle of a conversation: what it is sent fits it."""

from __future__ import annotations

import json

from codeagent.core.messages import AssistantMessage
from codeagent.llm.providers.scripted import say
from tests.commands.conftest import Sit
from tests.server.endpoint import JSON, Answer, Recorded, Response, ScriptedEndpoint

LISTED = {"data": [{"id": "large", "max_model_len": 128_000}, {"id": "small", "max_model_len": 16_000}]}
LONG = "The module reads a file, parses it and writes a report of what it found there. " * 120


def answer(request: Recorded) -> Answer:
    if "tools" not in request.json or "summar" in str(request.messages[-1]["content"]).lower():
        return say("They spoke of a module.")
    return say(LONG)


async def test_a_smaller_window_is_compacted_for_before_the_first_request(sit: Sit) -> None:
    routes = {"/v1/models": Response((json.dumps(LISTED).encode(),), headers=JSON)}
    async with ScriptedEndpoint(answer, routes=routes) as server:
        table = await sit(provider=None, base_url=server.base_url, model="large")
        for number in range(14):
            await table.type(f"And module {number}?")
        assert table.session.status().window == 128_000
        assert table.session.history.tokens > 16_000
        before = len(server.requests)
        await table.type("/model small")
        assert table.session.status().window == 16_000
        await table.type("Go on.")
    asked = server.requests[before:]
    assert {request.json["model"] for request in asked} == {"small"}
    assert max(len(request.body) for request in asked) / 4 < 16_000
    assert table.session.history.receipt is not None
    assert table.session.history.entries[-1].message == AssistantMessage(LONG)
