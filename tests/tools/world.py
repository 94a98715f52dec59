"""A small real world for tools: a folder, an archive on disk, a fact store and a person with prepared answers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codeagent.codebase.index import ProjectCode
from codeagent.core.agents import AgentKind, Report
from codeagent.core.messages import ToolCall
from codeagent.core.paths import Home
from codeagent.core.ports import Saved, Verdict
from codeagent.core.task import Updated
from codeagent.core.tools import Action, ToolContext, ToolResult
from codeagent.core.ui import Answer, Question, Row, Shown
from codeagent.history.past import SessionPast
from codeagent.safety.sandbox.places import Ground
from codeagent.safety.sandbox.sandbox import Sandbox
from codeagent.toolkit import make_code
from codeagent.tools.files import FileLedger
from codeagent.tools.jobs import JobTable
from codeagent.tools.todos import TodoList
from codeagent.tools.toolbox import Toolbox, builtin_tools
from codeagent.tools.web.client import WebClient


@dataclass
class Folder:
    """Implements `ports.Archive`."""

    folder: Path

    def put(self, call_id: str, text: str | Iterable[str]) -> str:
        return self.put_file(call_id, ".txt", "".join(text).encode())

    def put_file(self, name: str, ending: str, data: bytes) -> str:
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{name}{ending}").write_bytes(data)
        return f"{name}{ending}"


@dataclass
class Facts:
    """Implements `ports.FactStore`: what was said is meant when it holds the word "remember"."""

    saved: list[dict[str, Any]] = field(default_factory=list)

    def save(self, content: str, **details: Any) -> Saved:
        self.saved.append({"content": content, **details})
        return Saved("saved", "f1", f"Saved: {content}")

    def intends(self, said: str, content: str) -> bool:
        return "remember" in said


@dataclass
class Board:
    """Implements `ports.TaskBoard`: keeps what it is told."""

    updates: list[tuple[str, str]] = field(default_factory=list)

    async def update(self, section: str, content: str) -> Updated:
        self.updates.append((section, content))
        return Updated("Written.")

    def declined(self, content: str) -> None:
        """Nothing is written."""


@dataclass
class Person:
    """Implements `ports.UI`: answers in order, dismisses when there are none left."""

    answers: list[Answer] = field(default_factory=list)
    interactive: bool = True
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else Answer("")

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        return None

    async def edit(self, text: str) -> str | None:
        return None

    async def copy(self, text: str) -> bool:
        return False

    def show(self, shown: Shown) -> None:
        pass


@dataclass
class Gate:
    """Implements `ports.Permission`: yes to all but what `refuse` names; keeps what it was asked."""

    refuse: str = ""
    actions: list[Action] = field(default_factory=list)
    refusals: list[tuple[Action, str]] = field(default_factory=list)

    async def check(self, action: Action) -> Verdict:
        self.actions.append(action)
        return Verdict(False, "Not here.") if action.tool == self.refuse else Verdict(True)

    def refused(self, action: Action, reason: str) -> None:
        self.refusals.append((action, reason))


@dataclass
class Plan:
    """Implements `ports.Planning`."""

    planning: bool = False
    edits: bool | None = None
    """How the plan was approved."""

    def approved(self, *, edits: bool) -> None:
        self.planning, self.edits = False, edits


class Crew:
    """Implements `core.agents.Agents`: says what it was asked to do."""

    def kinds(self) -> Sequence[AgentKind]:
        return (AgentKind("explore", "looks", ""), AgentKind("general", "does", ""))

    async def run(self, kind: AgentKind, prompt: str, progress: Callable[[str], None]) -> Report:
        progress("1 · Looking\n")
        return Report(prompt, transcript="task1", steps=1, tokens=9)


@dataclass
class World:
    top: Path
    ctx: ToolContext
    toolbox: Toolbox
    gate: Gate
    facts: Facts
    board: Board
    person: Person
    jobs: JobTable
    plan: Plan
    calls: int = 0

    async def run(self, name: str, /, **arguments: Any) -> ToolResult:
        self.calls += 1
        return await self.toolbox.run(ToolCall(f"c{self.calls}", name, json.dumps(arguments)), self.ctx)

    async def edit(self, path: str, old: str, new: str, **more: Any) -> ToolResult:
        """Read, then edit."""
        await self.run("read_file", path=path)
        return await self.run("edit_file", path=path, old_string=old, new_string=new, **more)

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def _code(top: Path) -> ProjectCode:
    environ = dict(os.environ)
    return make_code(Home(top.parent / "home"), (top,), environ, str.split, lambda text: len(text) // 4)


def make_world(
    top: Path,
    *,
    said: str = "",
    timeout: float = 60,
    kills: bool = False,
    progress: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = lambda: 0.0,
    strict: bool = False,
) -> World:
    """`strict` puts commands into the strict sandbox. `clock` tells how long commands take: it stands still, so that
    results can be compared whole."""
    top = Path(os.path.realpath(top)) / "项目"
    top.mkdir()
    gate, facts, board, person, plan = Gate(), Facts(), Board(), Person(), Plan()
    ground = Ground((top,), dict(os.environ) | {"HOME": str(top.parent)}, top.parent / "home")
    sandbox = Sandbox("strict", ground, person) if strict else None
    jobs = JobTable(timeout=timeout, kills=kills, logs=top.parent / "logs", clock=clock, sandbox=sandbox)
    ctx = ToolContext(
        cwd=top,
        roots=(top,),
        environ=dict(os.environ),
        files=FileLedger(),
        archive=Folder(top.parent / "archive"),
        past=SessionPast(Home(top.parent / "home"), "demo", str.split, str),
        code=_code(top),
        facts=facts,
        task=board,
        jobs=jobs,
        todos=TodoList(),
        web=WebClient({}, private=True),
        planning=plan,
        agents=Crew(),
        ui=person,
        said=said,
        progress=progress,
    )
    return World(top, ctx, Toolbox(builtin_tools(), gate), gate, facts, board, person, jobs, plan)
