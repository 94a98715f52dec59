"""A session out of the real parts: a project on disk, a home, real tools, and a model that plays a script."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codeagent.agent.model import Model
from codeagent.agent.session import Session
from codeagent.assembly import Assembly
from codeagent.connection import Connection
from codeagent.core.entries import PromptReason, Usage
from codeagent.core.events import (
    CallDelta,
    Event,
    Notice,
    ReasoningDelta,
    Replied,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolProgress,
    TurnEnded,
)
from codeagent.core.messages import PLAIN, AssistantMessage, Message, ToolMessage, encode
from codeagent.core.paths import Home
from codeagent.core.ports import Provider, Request, StreamItem
from codeagent.core.tokens import ContextBudget
from codeagent.core.tools import Tool
from codeagent.core.ui import Answer, Question, Row, Shown, Theme
from codeagent.history.history import History
from codeagent.history.reading import read_state
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session, open_session
from codeagent.llm.providers.scripted import Script, ScriptedProvider, Step
from codeagent.llm.retry import RetryingProvider
from codeagent.options import Options
from codeagent.settings import load_settings
from codeagent.tools.toolbox import Toolbox, builtin_tools
from codeagent.workspace import find_project
from tests.laws.requests import unpaired

WINDOW = 128_000
USED = Usage(100, 10, 50)


@dataclass
class Person:
    """Implements `ui.UI`: answers from a list; with none left the question stays open until it is taken back."""

    answers: list[Answer] = field(default_factory=list)
    picks: list[str | None] = field(default_factory=list)
    interactive: bool = True
    asked: list[Question] = field(default_factory=list)
    offered: list[tuple[str, list[Row]]] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    edits: list[str | None] = field(default_factory=list)
    """What they make of texts in their editor."""
    copied: list[str] = field(default_factory=list)
    looks: list[tuple[str | None, bool | None]] = field(default_factory=list)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        if not self.answers:
            await asyncio.Event().wait()
        return self.answers.pop(0)

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        self.offered.append((title, list(rows)))
        return self.picks.pop(0)

    async def edit(self, text: str) -> str | None:
        return self.edits.pop(0) if self.edits else None

    async def copy(self, text: str) -> bool:
        self.copied.append(text)
        return len(text) < 1_000

    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        self.looks.append((theme, vim))
        return self.interactive

    def show(self, shown: Shown) -> None:
        self.shown.append(shown)


@dataclass
class Looked:
    """A scripted model; before each answer `look` sees the request."""

    scripted: ScriptedProvider
    look: Callable[[Request], None] = lambda request: None

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        self.look(request)
        async for item in self.scripted.stream(request):
            yield item

    async def aclose(self) -> None:
        return None


class World:
    """One project and one home; sessions are opened in it. `close` checks that scripts were played to their end."""

    def __init__(
        self, folder: Path, *, environ: dict[str, str] | None = None, cache: Path | None = None, **flags: Any
    ) -> None:
        """`flags` are settings, "." in their keys written as "__"; worlds that share a `cache` build the dictionary of
        words once."""
        self.top = folder / "项目"
        self.top.mkdir()
        self.home = Home(folder / "home")
        if cache is not None:
            self.home.root.mkdir()
            self.home.cache.symlink_to(cache)
        self.person = Person()
        self.notices: list[Notice] = []
        project = find_project(self.top)
        self.project = project
        self.options = Options(cwd=project.cwd, home=self.home, environ=environ or dict(os.environ))
        given = {"permission_mode": "yolo"} | {key.replace("__", "."): value for key, value in flags.items()}
        self.settings = load_settings(given, {}, self.home, None).settings
        self.models: list[ScriptedProvider] = []
        self._looked: list[Looked] = []
        self.stand_ins: dict[str, Tool] = {}
        """Tools that take the place of built-in ones in sessions opened from now on."""
        self.sessions: list[Session] = []

    def limit(self, *, tokens: int) -> None:
        self.options = replace(self.options, max_tokens_total=tokens)

    # ---- sessions --------------------------------------------------------------------------------------------------

    def begin(self, script: Script = (), *, id: str = "s1", **model: Any) -> Session:
        info = SessionInfo(id, self.project.id, str(self.project.cwd), "scripted", "0")
        path = self.home.history / self.project.id / f"{id}.jsonl"
        return self._open(new_session(path, info), self.connection(script, **model), "start")

    async def resume(self, session: Session, script: Script = (), **model: Any) -> Session:
        await session.aclose()
        return self._open(await open_session(session.history.path), self.connection(script, **model), "resume")

    def connection(
        self,
        script: Script,
        *,
        name: str = "scripted",
        window: int = WINDOW,
        cost: Callable[[Usage], float | None] = lambda usage: None,
        look: Callable[[Request], None] = lambda request: None,
        provider: Provider | None = None,
        retries: int = 0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        other: Callable[[str], Awaitable[Connection]] | None = None,
    ) -> Connection:
        self.models.append(ScriptedProvider(script))
        self._looked.append(Looked(self.models[-1], look))
        retrying = RetryingProvider(provider or self._looked[-1], retries, sleep=sleep)
        return Connection(Model(name, retrying, ContextBudget(window), cost), PLAIN, other=other)

    def play(self, *script: Step) -> None:
        """From now on the newest model plays this; what was left of its script is forgotten."""
        self.models[-1] = self._looked[-1].scripted = ScriptedProvider(script)

    def _open(self, history: History, connection: Connection, reason: PromptReason) -> Session:
        assembly = Assembly(self.options, self.project, self.settings, self.person, self.notices)
        bench = assembly.workbench(history)
        tools = [self.stand_ins.get(tool.name, tool) for tool in builtin_tools()]
        bench = replace(bench, toolbox=Toolbox(tools, bench.permissions, checkpoints=bench.saved))
        session = assembly.session(history, connection, bench, reason)
        self.sessions.append(session)
        return session

    async def close(self) -> None:
        for session in self.sessions:
            await session.aclose()
        assert [step for model in self.models for step in model.leftover] == []

    # ---- files -----------------------------------------------------------------------------------------------------

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    @property
    def requests(self) -> list[Request]:
        """All that any model was asked, in order; without what memory asks in the background."""
        return [request for model in self.models for request in model.requests if request.purpose != "compress"]


def with_usage(step: Step, usage: Usage = USED) -> Step:
    return replace(step, usage=usage)


def bare(event: Event) -> Event:
    """The event without what differs from run to run: times, and the size of the prompt."""
    match event:
        case StepStarted():
            return replace(event, prompt_tokens=0)
        case Replied() | ToolFinished() | TurnEnded():
            return replace(event, seconds=0.0)
    return event


async def events(turn: AsyncIterator[Event]) -> list[Event]:
    """Everything that happens in a turn."""
    return [bare(event) async for event in turn]


async def happens(turn: AsyncIterator[Event]) -> list[Event]:
    """What happens in a turn, without the pieces of streams."""
    pieces = (TextDelta, ReasoningDelta, CallDelta, ToolProgress)
    return [event for event in await events(turn) if not isinstance(event, pieces)]


async def until(turn: AsyncIterator[Event], kind: type[Event], act: Callable[[], object]) -> list[Event]:
    """A turn in which `act` happens at the first event of that kind."""
    seen: list[Event] = []
    async for event in turn:
        if isinstance(event, kind) and not any(isinstance(other, kind) for other in seen):
            act()
        seen.append(bare(event))
    return seen


def ended(seen: Iterable[Event]) -> TurnEnded:
    """The last event, which is the end of the turn."""
    *_, last = seen
    assert isinstance(last, TurnEnded)
    return last


def messages(session: Session) -> list[Message]:
    return [entry.message for entry in session.history.entries]


def said(session: Session) -> list[str]:
    """Each message in a few words: its text, the tools it calls, or the result."""
    return [
        "+".join(call.name for call in message.calls)
        if isinstance(message, AssistantMessage) and message.calls
        else f"[{message.text}]"
        if isinstance(message, ToolMessage)
        else message.text
        for message in messages(session)
    ]


def check_valid(session: Session) -> None:
    """Laws 1 and 3 for a session at rest."""
    assert unpaired(session.history.wire()) == []
    assert list(read_state(session.history.path).state.entries) == list(session.history.entries)
    assert session.history.wire()[1:] == [encode(message) for message in messages(session)]
