"""One request for a summary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codeagent.core.entries import Usage
from codeagent.core.errors import IncompleteReply
from codeagent.core.messages import UserMessage, encode
from codeagent.core.ports import Request
from codeagent.llm.providers.scripted import ScriptedProvider, call, calls, say, summary
from codeagent.llm.summarizer import make_summarizer
from tests.llm._playing import client
from tests.server.endpoint import Pause, Response, ScriptedEndpoint, chunk, sse

SAID = [encode(UserMessage("One.")), encode(UserMessage("Two."))]
TOOLS = b'[{"type":"function"}]'


async def test_the_request_extends_the_conversation_by_the_instruction() -> None:
    provider = ScriptedProvider([say("not this"), replace(summary("  All of it.\n"), usage=Usage(40, 3))])
    spent: list[Usage] = []
    assert await make_summarizer(provider, "m", 500, spend=spent.append)(SAID, TOOLS, "Summarise.") == "All of it."
    assert spent == [Usage(40, 3)]
    assert provider.requests == [
        Request("m", [*SAID, encode(UserMessage("Summarise."))], TOOLS, max_tokens=500, purpose="summary")
    ]


async def test_calls_are_no_summary() -> None:
    provider = ScriptedProvider([replace(calls(call("glob", pattern="*")), purpose="summary")])
    assert await make_summarizer(provider, "m")(SAID, TOOLS, "Summarise.") == ""


async def test_a_cut_summary_is_a_failure() -> None:
    provider = ScriptedProvider([replace(summary("Half of"), cut=True)])
    with pytest.raises(IncompleteReply):
        await make_summarizer(provider, "m")(SAID, TOOLS, "Summarise.")


async def test_one_that_says_nothing_is_given_up() -> None:
    async with ScriptedEndpoint([Response((Pause(60),))]) as server:
        with pytest.raises(IncompleteReply) as raised:
            await make_summarizer(client(server), "m", patience=0.1)(SAID, b"[]", "Summarise.")
    assert str(raised.value) == "m said nothing for 0.1 s when asked for a summary."


async def test_one_that_goes_on_speaking_is_waited_for() -> None:
    words = [piece for word in ("All ", "of ", "it.") for piece in (chunk({"content": word}), Pause(0.3))]
    async with ScriptedEndpoint([sse(*words, chunk(finish="stop"))]) as server:
        provider = client(server)
        await provider.warm()
        assert await make_summarizer(provider, "m", patience=0.8)(SAID, b"[]", "Summarise.") == "All of it."
