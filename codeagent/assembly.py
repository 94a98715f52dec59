"""Putting a session together: a history and a model, with tools, memory and permissions around them (L5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from codeagent.agent.calls import CallRunner
from codeagent.agent.loop import Agent
from codeagent.agent.model import Model
from codeagent.agent.repeats import LoopGuard
from codeagent.agent.session import Session
from codeagent.agent.watch import RepeatWatch
from codeagent.codebase.index import ProjectCode
from codeagent.confining import make_sandbox
from codeagent.connection import Connection
from codeagent.core.agents import Agents
from codeagent.core.entries import Prompt, PromptReason
from codeagent.core.events import Notice
from codeagent.core.messages import ToolCall
from codeagent.core.paths import Project
from codeagent.core.ports import Embedder
from codeagent.core.tools import ToolContext, ToolResult
from codeagent.core.ui import UI
from codeagent.delegation import Delegation
from codeagent.history.archive import SessionArchive
from codeagent.history.history import History
from codeagent.history.past import SessionPast
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.compressor import ContextCompressor
from codeagent.memory.conversation import ConversationKeeper
from codeagent.memory.extract import extract_facts
from codeagent.memory.hybrid import HybridRetriever
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.manager import MemoryManager
from codeagent.memory.nearness import Nearness
from codeagent.memory.opening import elsewhere, open_backend
from codeagent.memory.recall import FactBlock
from codeagent.memory.retriever import KeywordRetriever, Retriever
from codeagent.memory.short_term import ConversationMemory
from codeagent.memory.vectors import VectorCache
from codeagent.options import Options
from codeagent.parts import Parts
from codeagent.prompts import make_prompt
from codeagent.safety.checkpoints.saved import SavedWork
from codeagent.safety.permissions import Permissions
from codeagent.safety.rules import parse_rules
from codeagent.safety.veil import Veil
from codeagent.saving import make_losses, make_saved_work
from codeagent.settings import Settings
from codeagent.tasks import make_task_keeper, make_task_memory, tattoo_rules
from codeagent.toolkit import make_code, make_todos, make_toolbox, make_web, room, suited
from codeagent.tools.files import FileLedger
from codeagent.tools.jobs import JobTable
from codeagent.tools.todos import TodoList
from codeagent.tools.toolbox import Toolbox
from codeagent.tools.web.client import WebClient


@dataclass(frozen=True, slots=True)
class Workbench:
    """What stays the same for a session when its model changes."""

    archive: SessionArchive
    files: FileLedger
    jobs: JobTable
    permissions: Permissions
    toolbox: Toolbox
    """Both ways of editing; a session leaves one out."""
    conversation: ConversationMemory
    past: SessionPast
    code: ProjectCode
    todos: TodoList
    web: WebClient
    saved: SavedWork
    veil: Veil


class Assembly:
    """Knows the makes of all parts and how they fit; keeps nothing of a session."""

    def __init__(self, options: Options, project: Project, settings: Settings, ui: UI, notices: list[Notice]) -> None:
        """`notices` is where the parts' notices are put."""
        self._parts = Parts(options, project, settings)
        self._options = options
        self._project = project
        self._settings = settings
        self._ui = ui
        self._notices = notices
        self._home = options.home
        self._segmenter = self._parts.segmenter
        self.estimate = self._parts.estimate

    def workbench(self, history: History) -> Workbench:
        """Tools and permissions for a session that begins or goes on."""
        archive = SessionArchive(history.path)
        permissions = self._permissions(archive)
        shell = self._settings.shell
        sandbox = make_sandbox(
            self._settings.sandbox, self._options, self._project, self._ui,
            archive=archive.folder, permissions=permissions, tell=self._notices.append,
        )  # fmt: skip
        jobs = JobTable(
            timeout=shell.timeout, kills=shell.past_timeout == "kill", logs=archive.folder, sandbox=sandbox
        )  # fmt: skip
        web = make_web(self._settings.web, self._options.environ)
        checkpoints = self._settings.checkpoints
        saved = make_saved_work(self._home, history, self._parts.roots, checkpoints, self._notices.append)
        toolbox = make_toolbox(self._settings, permissions, web, saved if checkpoints.enabled else None)
        return Workbench(
            archive,
            FileLedger(),
            jobs,
            permissions,
            toolbox,
            ConversationMemory(),
            self._parts.past(history.path, lambda: history.entries),
            self.code(),
            make_todos(history),
            web,
            saved,
            Veil(history.path, hides=self._settings.secrets.mask),
        )

    def session(self, history: History, connection: Connection, bench: Workbench, reason: PromptReason) -> Session:
        """A session around `history`; its prompt is built for the first message, with `reason`."""
        model = connection.model
        meter = self._parts.meter(connection)
        memory = self._memory(history, connection, self._keeper(history, connection, bench.conversation))
        history.observers = (*history.observers, bench.todos)
        self._look_back(history, connection, bench)
        toolbox = suited(bench.toolbox, connection)

        def prompt(said: str) -> Prompt:
            made = make_prompt(
                self._options, self._project, memory, bench.files, bench.todos, delegation.files, toolbox, said,
                bench.code.overview, terse=model.budget.cramped,
            )  # fmt: skip
            self._notices += [*memory.notices(), *delegation.files.notices()]
            return made

        def context() -> ToolContext:
            return self._context(memory, bench, delegation.agents, model, agent.typed)

        def preface(path: str) -> str:
            text = memory.touched(Path(path))
            self._notices.extend(memory.notices())
            return text

        guard = self._parts.guard(history, memory, meter, model.budget, prompt)
        keeper = make_task_keeper(
            self._options, self._project, self._settings, memory.task, history, meter, bench, self._ui, self._notices
        )
        loops = LoopGuard(self._ui, history, toolbox.title, lambda: agent.interrupt.now(), polling=("shell_job",))
        watch = RepeatWatch(history, str(self._project.cwd))
        history.observers = (*history.observers, watch)

        async def after(call: ToolCall, result: ToolResult) -> list[str]:
            texts = [await one.after(call, result) for one in (loops, watch, keeper)]
            return [text for told in texts for text in told]

        calls = CallRunner(toolbox, history, context, bench.veil, preface, keeper.before, after)
        agent = Agent(history, model, calls, guard, meter, self._parts.limits(), keeper)
        delegation = Delegation(
            self._parts, connection, history, memory.task, bench.toolbox, bench.permissions, bench.jobs,
            bench.veil, self._ui, self._notices.append, keeper, context=context,
        )  # fmt: skip
        beside = (bench.jobs, bench.past, bench.code, bench.todos, watch, delegation.agents, bench.saved)
        return Session(agent, memory, bench.permissions, meter, prompt, *beside, refresh=reason)

    def _context(self, memory: MemoryManager, bench: Workbench, agents: Agents, model: Model, said: str) -> ToolContext:
        """The world as tools are handed it, `said` being the newest message."""
        return ToolContext(
            cwd=self._project.cwd,
            roots=self._parts.roots,
            environ=self._parts.environ,
            files=bench.files,
            archive=bench.archive,
            past=bench.past,
            code=bench.code,
            facts=memory,
            task=memory.task,
            jobs=bench.jobs,
            todos=bench.todos,
            web=bench.web,
            planning=bench.permissions,
            agents=agents,
            ui=self._ui,
            said=said,
            room=room(model.budget),
            sees=model.sees,
        )

    def code(self) -> ProjectCode:
        """The index of the project's code; nothing is opened before it is asked."""
        return make_code(
            self._home,
            self._parts.roots,
            self._options.environ,
            self._segmenter.words,
            self._parts.tokens,
            self._settings.index.map,
        )

    def _look_back(self, history: History, connection: Connection, bench: Workbench) -> None:
        """Past and code are ranked by meaning too where there are embeddings; while a person sits there the index of
        the past follows."""
        bench.past.near = Nearness(connection.embedder) if connection.embedder is not None else None
        bench.code.find_by_meaning(connection.code_embedder)
        if self._ui.interactive:
            history.observers = (*history.observers, bench.past)

    def _permissions(self, archive: SessionArchive) -> Permissions:
        rules = self._settings.permissions
        return Permissions(
            self._settings.permission_mode,
            self._parts.roots,
            self._ui,
            readable=(archive.folder,),
            allow=parse_rules(rules.allow),
            ask=parse_rules(rules.ask),
            deny=(*parse_rules(rules.deny), *tattoo_rules(self._home)),
            losses=make_losses(self._options.environ, self._settings.checkpoints),
        )

    def _keeper(self, history: History, connection: Connection, memory: ConversationMemory) -> ConversationKeeper:
        """Short-term memory, taken up where a session goes on, and from now on fed by the history."""
        budget = connection.model.budget
        memory.resize(budget.short_term)
        keeper = ConversationKeeper(
            memory,
            ContextCompressor(
                self._parts.summarizer(connection, history, "compress"), self._parts.tokens, window=budget.trigger
            ),
            history,
            self._parts.tokens,
            _now,
            threshold=budget.compress_at(self._settings.memory.compression_trigger_ratio),
            retry_after=self._settings.compaction.retry_after,
        )
        if not len(memory):
            keeper.fill()
        history.observers = (keeper,)
        return keeper

    def _memory(self, history: History, connection: Connection, keeper: ConversationKeeper) -> MemoryManager:
        budget, settings = connection.model.budget, self._settings
        return MemoryManager(
            LongTermMemory(open_backend(settings.memory.backend, self._home.facts), self._project.id, _now),
            self._retriever(connection.embedder),
            self._parts.loader(budget, history),
            self._parts.compactor(connection, history),
            self._segmenter.exact,
            FactBlock(budget.facts, self._parts.tokens, _now),
            make_task_memory(self._options, self._project, settings, budget, _now),
            extract=partial(extract_facts, self._parts.summarizer(connection, history)),
            conversation=keeper,
            session=lambda: (history.session.id, history.turn),
            view=history,
            inject=settings.memory.inject,
            elsewhere=lambda: elsewhere(settings.memory.backend, self._home.facts),
        )

    def _retriever(self, embedder: Embedder | None) -> Retriever:
        if self._settings.memory.retriever == "keyword":
            return KeywordRetriever(self._segmenter.words, _now)
        index = self._home.cache / "facts" / f"{self._project.id}.terms"
        by_words = Bm25Retriever(self._segmenter.words, _now, index)
        if embedder is None:
            return by_words
        vectors = VectorCache(self._home.cache / "vectors.db", embedder.name)
        return HybridRetriever(by_words, embedder, vectors, _now, self._notices.append)


def _now() -> datetime:
    return datetime.now(UTC)
