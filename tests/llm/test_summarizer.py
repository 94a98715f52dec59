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
