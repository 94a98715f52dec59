"""A model of its own for summaries, and the strategies behind their setting, in a whole session over a real socket."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeagent.agent.session import Session
from codeagent.app import House, open_desk
from codeagent.core.entries import Usage
from codeagent.core.events import Compacted, Compacting, Notice
from codeagent.core.paths import Home
from codeagent.history.spending import uses_in
from codeagent.llm.providers.scripted import Step, say
from codeagent.memory.strategies._dropping import NOTE
from codeagent.options import Options
from tests.agent._world import Person, events
from tests.server.endpoint import Answer, Recorded, ScriptedEndpoint, refusal


async def opened(root: Path, server: ScriptedEndpoint, config: str) -> House:
    home, top = Home(root / "home"), root / "shop"
    top.mkdir()
    home.root.mkdir()
    home.config.write_text(f'model = "main"\nbase_url = "{server.base_url}"\ncontext_window = 32000\n{config}')
    environ = {"PATH": os.environ["PATH"], "CODEAGENT_HOME": str(home.root)}
    return await open_desk(replace(Options(cwd=top, home=home, environ=environ), permission_mode="yolo"), Person())


async def four_turns(session: Session) -> None:
    for number in range(1, 5):
        await events(session.run_turn(f"Do step {number}. " + "Mind the gap. " * 60))


def answer(request: Recorded) -> Step:
    if request.json["model"] == "small":
        return say("The summary by the small one.")
    return say("Done. " * 60)


def asked(server: ScriptedEndpoint) -> list[tuple[str, bool]]:
    """(model, whether tools were offered) of each request."""
    return [(request.json["model"], bool(request.json.get("tools"))) for request in server.requests]


async def test_the_small_model_reads_a_transcript_and_its_summary_takes_the_place(tmp_path: Path) -> None:
    with ScriptedEndpoint(answer) as server:
        desk = await opened(tmp_path, server, 'small_model = "small"\n')
        await four_turns(desk.session)
        seen = await events(desk.session.compact())
        await desk.session.aclose()
    assert [type(event) for event in seen] == [Compacting, Compacted]
    assert asked(server) == [*[("main", True)] * 4, ("small", False)]
    conversation, instruction = server.requests[-1].messages
    assert "[user]\nDo step 1." in conversation["content"]
    assert instruction["role"] == "user"
    assert "The summary by the small one." in desk.session.history.entries[0].message.text


async def test_a_small_model_that_is_refused_leaves_everything_as_it_was(tmp_path: Path) -> None:
    def script(request: Recorded) -> Answer:
        return refusal(404, "no such model") if request.json["model"] == "small" else answer(request)

    with ScriptedEndpoint(script) as server:
        desk = await opened(tmp_path, server, 'small_model = "small"\n')
        await four_turns(desk.session)
        before = list(desk.session.history.entries)
        seen = await events(desk.session.compact())
        await desk.session.aclose()
    assert [type(event) for event in seen] == [Compacting, Notice]
    assert list(desk.session.history.entries) == before


async def test_another_model_answers_while_the_main_one_is_overloaded_and_is_named_with_its_cost(
    tmp_path: Path,
) -> None:
    def script(request: Recorded) -> Answer:
        busy = request.json["model"] == "main"
        return (
            refusal(529, "Overloaded", headers=(("Retry-After-Ms", "1"),)) if busy else say("Here.", usage=Usage(9, 1))
        )

    with ScriptedEndpoint(script) as server:
        desk = await opened(tmp_path, server, 'max_retries = 0\nfallback_models = ["main", "spare"]\n')
        seen = [*await events(desk.session.run_turn("hi")), *await events(desk.session.run_turn("and?"))]
        path = desk.session.history.path
        await desk.session.aclose()
    assert [request.json["model"] for request in server.requests] == ["main", "spare", "spare"]
    told = [str(event) for event in seen if isinstance(event, Notice)]
    assert [sentence.endswith("Going on with spare.") for sentence in told] == [True]
    assert [use.model for use in uses_in([path])] == ["spare", "spare"]


@pytest.mark.parametrize("strategy", ["sliding_window", "importance"])
async def test_a_strategy_without_a_model_leaves_out_messages_and_asks_nobody(tmp_path: Path, strategy: str) -> None:
    with ScriptedEndpoint(answer) as server:
        desk = await opened(tmp_path, server, f'[memory]\nstrategy = "{strategy}"\n')
        await four_turns(desk.session)
        seen: list[Any] = await events(desk.session.compact())
        wire = desk.session.history.wire()
        await desk.session.aclose()
    assert [type(event) for event in seen] == [Compacting, Compacted]
    assert asked(server) == [("main", True)] * 4
    assert sum(NOTE[:40].encode() in message for message in wire) == 1
    assert len(wire) < 9
