"""A scripted server that works through many modules in small windows, and looks at every request it is sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import codeagent.memory
from codeagent.agent.session import Session
from codeagent.core.entries import Usage
from codeagent.core.events import Compacted
from codeagent.core.ports import Endpoint
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import Step, call, calls, say
from tests.agent._world import World, check_valid, ended, events
from tests.laws.requests import unpaired
from tests.server.endpoint import Recorded, ScriptedEndpoint

INSTRUCTION = (Path(codeagent.memory.__file__).parent / "prompts" / "summary.md").read_text("utf-8")[:60]
GO_ON = "Where are we? 到哪了？"
RECALLS = 10
"""Calls of recall in one reply."""


@dataclass
class Model:
    """Answers from a list, and whatever it is asked to sum up with `summary`."""

    window: int
    summary: Step
    answers: list[Step] = field(default_factory=list)
    rules: tuple[str, ...] = ()
    """What must stand in each request after a compaction."""
    session: Session | None = None
    faults: list[str] = field(default_factory=list)
    """Requests that are unpaired or too large, and rules that are missing in one."""
    looked: int = 0
    """Requests after a compaction."""
    told: str = ""
    """The newest request of a turn, as text."""

    def answer(self, request: Recorded) -> Step:
        messages = request.messages
        wire = [json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() for message in messages]
        size = self._size(messages, wire, request)
        instructed = str(messages[-1]["content"]).startswith(INSTRUCTION)
        self.faults += [f"unpaired: {id}" for id in unpaired(wire)]
        if size > (self.window if instructed else ContextBudget(self.window).hard_limit):
            self.faults.append(f"{size} tokens")
        turn = messages[0]["role"] == "system" and not instructed
        return replace(self._turn(messages) if turn else self.summary, usage=Usage(size, 10))

    def _size(self, messages: list[dict[str, Any]], wire: list[bytes], request: Recorded) -> int:
        """Tokens as we estimate them: so the endpoint counts what the program thinks."""
        first = str(messages[0]["content"]).encode() if messages[0]["role"] == "system" else wire[0]
        tools = json.dumps(request.json.get("tools") or [], ensure_ascii=False, separators=(",", ":")).encode()
        return sum(map(estimate_classes, (first, *wire[1:], tools)))

    def _turn(self, messages: list[dict[str, Any]]) -> Step:
        self.told = "\n".join(str(message["content"]) for message in messages)
        if self.session is not None and self.session.history.receipt is not None:
            self.looked += 1
            self.faults += [f"lost: {rule}" for rule in self.rules if rule not in self.told]
        return self.answers.pop(0)


def modules(world: World, count: int) -> list[Step]:
    """Files of 3 to 6 kB with a fact in each, and the calls that read them."""
    for number in range(count):
        line = f"module {number} line with some code = value_{number} * 3  # and a comment\n"
        told = f"FACT{number}: the key of module {number} is {fact(number)}\n"
        world.file(f"m{number}.txt", line * 20 + told + line * (25 + number % 45))
    return [call("read_file", path=f"m{number}.txt") for number in range(count)]


def fact(number: int) -> str:
    return f"K{number * 7919}"


async def live(world: World, model: Model, *turns: str, facts: Sequence[int]) -> int:
    """These turns, one more after a resume, then recall of the planted `facts`; how often it compacted."""
    compactions = 0
    async with ScriptedEndpoint(model.answer) as server:

        def connection() -> dict[str, Any]:
            provider = OpenAIChat(Endpoint(server.base_url, "k", "scripted"))
            return {"provider": provider, "window": model.window}

        model.session = session = world.begin(**connection())
        for text in turns:
            compactions += await _turn(session, text)
        model.session = session = await world.resume(session, **connection())
        seen, model.answers = model.looked, [say("Still here.")]
        compactions += await _turn(session, GO_ON)
        assert model.looked == seen + 1
        assert await _recalled(model, session, facts) == set(facts)
        assert model.answers == []
        await session.aclose()
    return compactions


async def _turn(session: Session, text: str) -> int:
    seen = await events(session.run_turn(text))
    assert ended(seen).reason == "done", ended(seen)
    check_valid(session)
    return sum(isinstance(event, Compacted) for event in seen)


async def _recalled(model: Model, session: Session, facts: Sequence[int]) -> set[int]:
    """Those of the facts that the model reads after it has asked recall for them; most had left the context."""
    left = [number for number in facts if fact(number) not in model.told]
    assert len(left) > len(facts) // 2
    found: set[int] = set()
    for start in range(0, len(facts), RECALLS):
        asked = facts[start : start + RECALLS]
        recalls = [call("recall", query=f"FACT{number} key of module {number}", limit=2) for number in asked]
        model.answers = [calls(*recalls), say("Yes.")]
        await _turn(session, "Look it up. 查一下。")
        found |= {number for number in asked if fact(number) in model.told}
    return found
