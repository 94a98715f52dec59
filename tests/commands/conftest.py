"""A desk in a project of its own, over the scripted model, and a person who types slash commands."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from codeagent.app import House, open_desk
from codeagent.commands.base import CommandContext, Outcome, Play, Send, Switch
from codeagent.commands.dispatch import dispatch
from codeagent.core.paths import Home
from codeagent.core.ui import Shown
from codeagent.llm.providers.scripted import Step
from codeagent.options import Options
from tests.agent._world import Person, events


@dataclass
class Table:
    """The table at which the person sits: `type` does what the REPL does with a line."""

    desk: House
    person: Person

    def __post_init__(self) -> None:
        self.session = self.desk.session

    async def type(self, line: str) -> Outcome:
        outcome = await dispatch(line, CommandContext(self.session, self.desk, self.person))
        match outcome:
            case Switch(session):
                self.session = session
            case Send(text):
                await events(self.session.run_turn(text))
            case Play(turn):
                for event in await events(turn):
                    self.person.shown.append(event)  # type: ignore[arg-type]
        return outcome

    async def shown(self, line: str) -> list[Shown]:
        """What typing `line` shows."""
        before = len(self.person.shown)
        await self.type(line)
        return self.person.shown[before:]

    async def told(self, line: str) -> list[str]:
        return [str(shown) for shown in await self.shown(line)]


Sit = Callable[..., Awaitable[Table]]


@pytest.fixture
async def sit(tmp_path: Path) -> AsyncIterator[Sit]:
    """Open a desk: (steps of the script, options) -> table."""
    top = tmp_path / "项目"
    top.mkdir()
    tables: list[Table] = []

    async def open_table(*script: Step, **options: Any) -> Table:
        path = tmp_path / f"script-{len(tables)}.json"
        path.write_text(json.dumps([_raw(step) for step in script]), "utf-8")
        base = Options(
            cwd=top,
            home=Home(tmp_path / "home"),
            environ={"PATH": os.environ["PATH"]},
            provider="scripted",
            model="first-model",
            base_url=str(path),
            permission_mode="yolo",
        )
        person = Person()
        tables.append(Table(await open_desk(replace(base, **options), person), person))
        return tables[-1]

    yield open_table
    for table in tables:
        await table.session.aclose()


def _raw(step: Step) -> dict[str, Any]:
    calls = [{"name": one.name, "arguments": json.loads(one.arguments)} for one in step.calls]
    usage = step.usage and {
        "prompt_tokens": step.usage.prompt_tokens,
        "completion_tokens": step.usage.completion_tokens,
        "cached_tokens": step.usage.cached_tokens,
    }
    return {"text": step.text, "calls": calls, "purpose": step.purpose, "usage": usage, "error": step.error}
