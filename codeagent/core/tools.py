"""Tools as values: what a tool declares, what it is handed, what it answers.

A tool is one file in `tools/builtin/` that exports `TOOL`. Its `params` is a pydantic model (the rim validates), its
`run` an async function whose docstring the model reads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codeagent.core.images import Image

if TYPE_CHECKING:
    from codeagent.core.agents import Agents
    from codeagent.core.code import CodeIndex
    from codeagent.core.jobs import Jobs
    from codeagent.core.past import Past
    from codeagent.core.ports import Archive, FactStore, Files, Planning
    from codeagent.core.task import TaskBoard
    from codeagent.core.todo import Todos
    from codeagent.core.ui import UI
    from codeagent.core.web import Web

Kind = Literal["read", "edit", "run", "memory", "web", "ask"]
"""read: only looks; edit: changes a file; run: executes a command; memory: changes what is remembered; web: asks
another machine; ask: asks the person."""

ROOM = 35_000
"""Bytes; no result takes more, whatever the tool and the window."""


@dataclass(frozen=True, slots=True)
class Diff:
    """One file before and after; None where it does not exist."""

    path: str
    before: str | None
    after: str | None
    moved_from: str = ""
    """The path it had before, where that changes."""


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes of several files that belong together."""

    diffs: tuple[Diff, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and the folder it would run in."""

    text: str
    cwd: str


Preview = Diff | Patch | Command | str


@dataclass(frozen=True, slots=True)
class Action:
    """What a call is about to do, for the permission to judge and the person to see."""

    tool: str
    kind: Kind
    subject: str
    """What rules match: the absolute path, the command line, the text of a fact, the address or what is searched."""
    title: str
    preview: Preview | None = None
    also: tuple[str, ...] = ()
    """Further subjects, each judged like the first."""
    written: bool = False
    """The call was read from the text of a reply, which may only have quoted it: no mode and no rule allows it."""

    @property
    def parts(self) -> tuple[Action, ...]:
        """The action once for each subject."""
        return (replace(self, also=()), *(replace(self, subject=subject, also=()) for subject in self.also))


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call. `text` goes to the model, the rest to the person and the journal."""

    text: str
    failed: bool = False
    partial: bool = False
    """Something was left out; `text` says what and how to go on."""
    denied: bool = False
    """The person, a mode or a rule said no."""
    summary: str = ""
    """A few words for the settled line ("120 lines", "exit 1")."""
    display: Preview | None = None
    archive: str | None = None
    """Id of the whole output where `text` is bounded."""
    images: tuple[Image, ...] = ()
    """What the model is to see; it travels in a message behind all results of the reply."""
    about: tuple[str, ...] = field(default=(), compare=False)
    """Absolute paths of what was read, changed or named by a command; the toolbox fills it in."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The world as a tool is handed it."""

    cwd: Path
    """The working folder; relative paths start here."""
    roots: tuple[Path, ...]
    """Real paths of the folders that may be written with the mode's blessing; the first is the project's."""
    environ: Mapping[str, str]
    """Environment for child processes."""
    files: Files
    archive: Archive
    past: Past
    code: CodeIndex
    facts: FactStore
    task: TaskBoard
    jobs: Jobs
    todos: Todos
    web: Web
    planning: Planning
    agents: Agents
    ui: UI
    said: str = ""
    """The newest user message as typed."""
    call_id: str = ""
    room: int = ROOM
    """Bytes that a result may take, notes beside it; less than `ROOM` where the window is small."""
    sees: bool = False
    """Whether the model can be shown pictures."""
    progress: Callable[[str], None] = lambda text: None
    typed: bool = False
    """The person typed the call: it is within no bounds but their own."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing the model can do."""

    name: str
    kind: Kind
    params: type[Any]
    """pydantic model of the arguments; field docstrings or descriptions are read by the model."""
    run: Callable[[Any, ToolContext], Awaitable[ToolResult]]
    """Its docstring is the tool's description. What the model can mend is a failed result, never an exception."""
    title: Callable[[Any], str]
    """The one-line label of a call ("Read src/a.py")."""
    action: Callable[[Any, ToolContext], Awaitable[Action]] | None = None
    """What must be permitted; None only for tools that touch nothing of the person's."""
    order: int = 100
    """Place in the tool list, which must be stable: it is part of the cached prefix."""
