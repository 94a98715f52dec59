"""The composition root: the one place where the parts meet and every name is known."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from codeagent import __version__
from codeagent.agent.calls import CallRunner
from codeagent.agent.compaction import HistoryGuard
from codeagent.agent.limits import Limits
from codeagent.agent.loop import Agent
from codeagent.agent.session import Session
from codeagent.core.entries import Prompt, PromptReason
from codeagent.core.errors import ConfigError, SessionError
from codeagent.core.events import Notice
from codeagent.core.paths import Project
from codeagent.core.plugins import discover
from codeagent.core.ports import UI, Row
from codeagent.core.sections import Section
from codeagent.core.tokens import ContextBudget, estimate_classes, estimate_tokens
from codeagent.core.tools import ToolContext
from codeagent.endpoints import DEFAULT_KIND, Connection, Endpoints
from codeagent.history.archive import SessionArchive
from codeagent.history.catalog import Catalog, Found, checked_id, new_session_id
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import fork_session, new_session, open_session
from codeagent.llm.summarizer import make_summarizer
from codeagent.memory import backends
from codeagent.memory.compactor import ConversationHistoryCompactor
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.manager import MemoryManager
from codeagent.memory.meter import TokenMeter
from codeagent.memory.project import ProjectMemoryLoader
from codeagent.memory.recall import FactBlock
from codeagent.memory.retriever import KeywordRetriever
from codeagent.options import Options
from codeagent.prompting.prompt import Environment, build_prompt, environment_section, system_section
from codeagent.safety.permissions import Permissions
from codeagent.safety.rules import parse_rules
from codeagent.settings import Loaded, Trust, load_settings
from codeagent.text.segment import Segmenter
from codeagent.tools.files import FileLedger
from codeagent.tools.jobs import JobTable
from codeagent.tools.toolbox import Toolbox, builtin_tools
from codeagent.workspace import find_project, git_state

APPENDED = 50
"""Order of what --append-system-prompt adds: behind the standing instructions, before the project's."""


async def open_desk(options: Options, ui: UI) -> House:
    """Gather the settings, find the model, open the session that the options ask for.

    Raises:
        CodeAgentError: settings, endpoint or session cannot be used.
    """
    project = find_project(options.cwd)
    loaded = load_settings(options.flags(), options.environ, options.home, None if options.safe_mode else project)
    house = House(options, project, loaded, ui)
    await house.open()
    return house


@dataclass(frozen=True, slots=True)
class Workbench:
    """What stays the same for a session when its model changes."""

    archive: SessionArchive
    files: FileLedger
    jobs: JobTable
    permissions: Permissions
    toolbox: Toolbox


class House:
    """Implements `commands.base.Desk`: builds sessions out of the parts."""

    def __init__(self, options: Options, project: Project, loaded: Loaded, ui: UI) -> None:
        self._options = options
        self._project = project
        self._settings = loaded.settings
        self._ui = ui
        self._home = options.home
        self._catalog = Catalog(options.home)
        self._endpoints = Endpoints(loaded.settings, options.environ, options.home, options.provider or DEFAULT_KIND)
        self._segmenter = Segmenter(options.home.cache)
        self._roots = (project.top, *(path.resolve() for path in options.add_dirs))
        self._notices = list(loaded.notices)
        self._warming: asyncio.Task[None] | None = None
        self._session: Session | None = None
        self._bench: Workbench | None = None

    # ---- what commands and ui see ----------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @property
    def notices(self) -> Sequence[Notice]:
        """What has become known since they were last asked for."""
        news, self._notices = tuple(self._notices), []
        return news

    def sessions(self) -> Sequence[Row]:
        now = datetime.now(UTC).timestamp()
        return [_row(found, now) for found in self._catalog.sessions(self._project.id)]

    def models(self) -> Sequence[Row]:
        return [Row(name, (name,)) for name in self._endpoints.models()]

    async def resume(self, session: Session, session_id: str) -> Session:
        found = self._catalog.find(self._project.id, session_id)
        if found.id == session.id:
            return session
        connection = await self._connect(None)
        history = await open_session(found.path, shape=connection.shape)
        await session.aclose()
        return self._begin(history, connection, "resume")

    async def use_model(self, session: Session, name: str) -> Session:
        connection = await self._connect(name)
        assert self._bench is not None
        session.history.reshape(connection.shape)
        await session.model.provider.aclose()
        return self._assemble(session.history, connection, self._bench, "model")

    # ---- the first session -----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the session that the options ask for."""
        connection = await self._connect(None)
        found = await self._wanted()
        if found is None:
            history, reason = self._new(connection.model.name), "start"
        elif self._options.fork:
            info = self._info(connection.model.name, parent=found.id)
            target = self._catalog.path(self._project.id, info.id)
            await fork_session(found.path, target, info)
            history, reason = await open_session(target, shape=connection.shape), "resume"
        else:
            history, reason = await open_session(found.path, shape=connection.shape), "resume"
        if self._options.name and history.name != self._options.name:
            history.rename(self._options.name)
        self._begin(history, connection, "start" if reason == "start" else "resume")
        if self._ui.interactive:
            # The first Enter should not wait for an import.
            self._warming = asyncio.create_task(self.session.model.provider.warm())

    async def _wanted(self) -> Found | None:
        """The session to go on with; None for a new one."""
        options, here = self._options, self._project.id
        if options.resume is not None:
            return self._catalog.find(here, options.resume)
        found = None
        if options.newest:
            found = self._catalog.newest(here, str(self._project.cwd))
        elif options.pick:
            rows = self.sessions()
            if rows:
                picked = await self._ui.pick("Resume which session?", rows)
                return self._catalog.find(here, picked) if picked else None
        if found is None and (options.newest or options.pick):
            self._notices.append(Notice("There is no session of this project yet; this is a new one."))
        return found

    def _new(self, model: str) -> History:
        info = self._info(model)
        path = self._catalog.path(self._project.id, info.id)
        if path.exists():
            raise SessionError(
                "There is a session {id} already.", id=info.id, hint=f"To go on with it: codeagent --resume {info.id}"
            )
        return new_session(path, info)

    def _info(self, model: str, parent: str | None = None) -> SessionInfo:
        chosen = self._options.session_id
        return SessionInfo(
            id=checked_id(chosen) if chosen else new_session_id(datetime.now()),
            project_id=self._project.id,
            cwd=str(self._project.cwd),
            model=model,
            version=__version__,
            name=self._options.name,
            parent=parent,
        )

    async def _connect(self, name: str | None) -> Connection:
        connection = await self._endpoints.connect(name)
        self._notices += connection.notices
        return connection

    # ---- putting it together ---------------------------------------------------------------------------------------

    def _begin(self, history: History, connection: Connection, reason: PromptReason) -> Session:
        """A session around a history, with a workbench of its own."""
        self._notices += history.notices
        archive = SessionArchive(history.path)
        permissions = self._permissions(archive)
        self._bench = Workbench(
            archive,
            FileLedger(),
            JobTable(timeout=self._settings.shell.timeout),
            permissions,
            Toolbox(builtin_tools(), permissions),
        )
        return self._assemble(history, connection, self._bench, reason)

    def _permissions(self, archive: SessionArchive) -> Permissions:
        rules = self._settings.permissions
        return Permissions(
            self._settings.permission_mode,
            self._roots,
            self._ui,
            readable=(archive.folder,),
            allow=parse_rules(rules.allow),
            ask=parse_rules(rules.ask),
            deny=parse_rules(rules.deny),
        )

    def _assemble(self, history: History, connection: Connection, bench: Workbench, reason: PromptReason) -> Session:
        model, meter = connection.model, TokenMeter(estimate_classes)
        memory = self._memory(history, connection)

        def prompt(said: str) -> Prompt:
            return self._prompt(memory, bench.toolbox.schemas, said)

        def context() -> ToolContext:
            said = next((entry.said for entry in reversed(history.entries) if entry.said is not None), "")
            return ToolContext(
                cwd=self._project.cwd,
                roots=self._roots,
                environ=self._options.environ,
                files=bench.files,
                archive=bench.archive,
                facts=memory,
                jobs=bench.jobs,
                ui=self._ui,
                said=said,
            )

        guard = HistoryGuard(
            history, memory, meter, model.budget, prompt, retry_after=self._settings.compaction.retry_after
        )
        limits = Limits(self._settings.max_turns, self._options.max_tokens_total, self._settings.max_budget_usd)
        calls = CallRunner(bench.toolbox, history, context)
        agent = Agent(history, model, calls, guard, meter, limits)
        self._session = Session(agent, memory, bench.permissions, meter, prompt, bench.jobs, refresh=reason)
        return self._session

    def _memory(self, history: History, connection: Connection) -> MemoryManager:
        budget, model = connection.model.budget, connection.model
        return MemoryManager(
            self._facts(),
            KeywordRetriever(self._segmenter.words, _now),
            self._loader(budget),
            ConversationHistoryCompactor(
                make_summarizer(model.provider, model.name, model.max_tokens),
                estimate_classes,
                mode=self._settings.compaction.mode,
                keep_turns=self._settings.compaction.keep_turns,
            ),
            self._segmenter.words,
            FactBlock(budget.facts, estimate_tokens, _now),
            session=lambda: (history.session.id, history.turn),
        )

    def _facts(self) -> LongTermMemory:
        kinds = {kind.name: kind for kind in discover(backends, "BACKEND").values()}
        kind = kinds.get(self._settings.memory.backend)
        if kind is None:
            raise ConfigError(
                "There is no memory backend {name}.",
                name=self._settings.memory.backend,
                hint=f"Known: {', '.join(kinds)}",
            )
        return LongTermMemory(kind.open(self._home.facts), self._project.id, _now)

    def _loader(self, budget: ContextBudget) -> ProjectMemoryLoader:
        return ProjectMemoryLoader(
            self._home,
            self._project,
            Path.home(),
            tokens=budget.static,
            estimate=estimate_tokens,
            trusted=Trust(self._home).state(self._project) == "trusted",
        )

    def _prompt(self, memory: MemoryManager, schemas: bytes, said: str) -> Prompt:
        own, added = self._options.system_prompt, self._options.append_system_prompt
        sections = [
            Section("system", own, order=0) if own is not None else system_section(),
            Section("appended", added, order=APPENDED) if added else None,
            memory.project_section(),
            environment_section(self._environment()),
            memory.facts_section(said),
        ]
        self._notices += memory.notices()
        return Prompt(build_prompt(sections), schemas)

    def _environment(self) -> Environment:
        git = git_state(self._project)
        return Environment(
            cwd=self._project.cwd,
            top=self._project.top,
            platform=f"{platform.system()} {platform.release()}",
            today=datetime.now().date(),
            branch=git.branch if git else "",
            head=git.head if git else "",
            repository=git is not None,
        )


def _now() -> datetime:
    return datetime.now(UTC)


def _row(found: Found, now: float) -> Row:
    return Row(found.id, (_age(now - found.modified), found.name or found.first or "(empty)", _size(found.size)))


def _age(seconds: float) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return "now"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
