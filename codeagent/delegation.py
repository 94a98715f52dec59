"""Putting subagents together: the loop once more, with a journal, a prompt and tools of its own (L5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from codeagent import __version__
from codeagent.agent.calls import CallRunner
from codeagent.agent.keeper import NoKeeper
from codeagent.agent.loop import Agent
from codeagent.agent.model import Model
from codeagent.agent.repeats import LoopGuard
from codeagent.agent.subagents import GENERAL, AskingFor, Subagent, Subagents, fitting
from codeagent.agent.task import TaskKeeper
from codeagent.connection import Connection
from codeagent.core.agents import AgentKind
from codeagent.core.entries import Compaction, Need, Prompt
from codeagent.core.events import Notice
from codeagent.core.messages import ToolCall
from codeagent.core.ports import HistoryView, Permission, Recalled
from codeagent.core.tools import ToolContext, ToolResult
from codeagent.core.ui import UI
from codeagent.extensions.agents import AgentFiles
from codeagent.history.archive import SessionArchive
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.task import TaskMemory
from codeagent.parts import Parts
from codeagent.prompting.prompt import build_prompt, environment_section, subagent_section
from codeagent.prompts import environment_of
from codeagent.safety.veil import Veil
from codeagent.toolkit import room, suited
from codeagent.tools.files import FileLedger
from codeagent.tools.jobs import JobTable
from codeagent.tools.toolbox import Toolbox

_TRANSCRIPT = "task{number}"


@dataclass(frozen=True, slots=True)
class _Folding:
    """Implements `ports.Memory` for a conversation that is only made smaller."""

    compactor: ConversationHistoryCompactor

    async def prepare(self, said: str) -> None:
        """Nothing is looked for."""

    def recall(self, said: str) -> Recalled:
        return Recalled("")

    def safe_point(self) -> None:
        """Nothing counts as injected."""

    def pinned(self) -> str:
        return ""

    async def compact(self, view: HistoryView, need: Need) -> Compaction | None:
        return await self.compactor.compact(view, need)


class Delegation:
    """Makes the subagents of one session."""

    def __init__(
        self,
        parts: Parts,
        connection: Connection,
        history: History,
        task: TaskMemory,
        toolbox: Toolbox,
        permission: Permission,
        jobs: JobTable,
        veil: Veil,
        ui: UI,
        tell: Callable[[Notice], object],
        keeper: TaskKeeper,
        *,
        context: Callable[[], ToolContext],
    ) -> None:
        """`history`, `toolbox`, `veil`, `keeper` and `context` are those of the session."""
        self._parts = parts
        self._connection = connection
        self._history = history
        self._task = task
        self._toolbox = toolbox
        self._permission = permission
        self._jobs = jobs
        self._veil = veil
        self._ui = ui
        self._tell = tell
        self._context = context
        self._keeper = keeper
        self._numbers = count(1)
        project = None if parts.options.safe_mode else parts.project.folder / "agents"
        names = [tool.name for tool in fitting(toolbox.tools, GENERAL)]
        self.files = AgentFiles(parts.home.root / "agents", project, lambda: parts.trusted, names)
        self.agents = Subagents(
            lambda: self.files.load().values(),
            self._begin,
            lambda usage, cost: history.spend(usage, cost, "task"),
        )

    async def _begin(self, kind: AgentKind) -> Subagent:
        connection = self._connection
        if kind.model and connection.other is not None:
            connection = await connection.other(kind.model)
            for notice in connection.notices:
                self._tell(notice)
        history = self._new(kind, connection)
        agent = self._agent(kind, connection, history)

        async def close() -> None:
            history.close()
            if connection is not self._connection:
                await connection.model.provider.aclose()

        return Subagent(agent, history.path.stem, close)

    def _new(self, kind: AgentKind, connection: Connection) -> History:
        folder = self._history.path.with_suffix("")
        paths = (folder / f"{_TRANSCRIPT.format(number=number)}.jsonl" for number in self._numbers)
        path = next(path for path in paths if not path.exists())
        session = self._history.session
        info = SessionInfo(
            id=f"{session.id}.{path.stem}",
            project_id=session.project_id,
            cwd=session.cwd,
            model=connection.model.name,
            version=__version__,
            name=kind.name,
            parent=session.id,
        )
        return new_session(path, info, shape=connection.shape, estimate=self._parts.estimate)

    def _agent(self, kind: AgentKind, connection: Connection, history: History) -> Agent:
        model, meter = connection.model, self._parts.meter(connection)
        who = f"{kind.name} ({history.path.stem})"
        toolbox = self._toolbox.beside(fitting(self._toolbox.tools, kind), AskingFor(self._permission, who))
        toolbox = suited(toolbox, connection)
        loader = self._parts.loader(model.budget, history)

        def prompt(said: str) -> Prompt:
            sections = [
                self._task.section_again(),
                subagent_section(kind.prompt),
                loader.section(),
                environment_section(environment_of(self._parts.project)),
            ]
            return Prompt(build_prompt(sections), toolbox.schemas)

        loops = LoopGuard(self._ui, history, toolbox.title, lambda: agent.interrupt.now(), polling=("shell_job",))

        async def after(call: ToolCall, result: ToolResult) -> list[str]:
            return [*await self._keeper.beside(call, result), *await loops.after(call, result)]

        memory = _Folding(self._parts.compactor(connection, history))
        guard = self._parts.guard(history, memory, meter, model.budget, prompt)
        world = self._world(history.path, model)
        calls = CallRunner(
            toolbox, history, world, self._veil, lambda path: loader.touched(Path(path)), self._keeper.before, after
        )
        agent = Agent(
            history, model, calls, guard, meter, self._parts.limits(), NoKeeper(), spent=lambda: self._history.spent
        )
        history.set_prompt(prompt(""), "start")
        return agent

    def _world(self, path: Path, model: Model) -> Callable[[], ToolContext]:
        """What the session's tools are handed, but for what belongs to a conversation."""
        files, archive = FileLedger(), SessionArchive(path)
        jobs, past = self._jobs.beside(), self._parts.past(self._history.path)
        most, sees = room(model.budget), model.sees
        return lambda: replace(
            self._context(), files=files, archive=archive, jobs=jobs, past=past, room=most, sees=sees
        )  # fmt: skip
