"""The composition root: opens what the options ask for, and stands behind the commands as their desk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from codeagent import __version__
from codeagent.agent.session import Session
from codeagent.assembly import Assembly, Workbench
from codeagent.checkup import check_up
from codeagent.connection import Connection
from codeagent.core.code import CodeIndex
from codeagent.core.entries import PromptReason
from codeagent.core.errors import SessionError
from codeagent.core.events import Notice
from codeagent.core.past import Past, age
from codeagent.core.paths import Project
from codeagent.core.ui import UI, Row
from codeagent.endpoints import DEFAULT_KIND, Endpoints, named_flags
from codeagent.history.catalog import Catalog, Found, checked_id, new_session_id
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import fork_session, new_session, open_session
from codeagent.llm.doctor import Diagnosis
from codeagent.options import Options
from codeagent.settings import Loaded, load_settings
from codeagent.settings.write import write_setting
from codeagent.workspace import find_project


def gather(options: Options) -> Loaded:
    """The settings of a run.

    Raises:
        ConfigError: they cannot be used.
    """
    flags = named_flags(options.provider, options.flags(), options.environ)
    project = None if options.safe_mode else find_project(options.cwd)
    return load_settings(flags, options.environ, options.home, project)


async def open_desk(options: Options, ui: UI, loaded: Loaded | None = None) -> House:
    """Gather the settings where they are not handed in, find the model, open the session that the options ask for.

    Raises:
        CodeAgentError: settings, endpoint or session cannot be used.
    """
    house = House(options, find_project(options.cwd), loaded or gather(options), ui)
    await house.open()
    return house


class House:
    """Implements `commands.base.Desk`: builds sessions out of the parts."""

    def __init__(self, options: Options, project: Project, loaded: Loaded, ui: UI) -> None:
        self._options = options
        self._project = project
        self._ui = ui
        self._catalog = Catalog(options.home)
        self._endpoints = Endpoints(
            loaded.settings,
            options.environ,
            options.home,
            options.provider or DEFAULT_KIND,
            loaded.origins["api_key"].source,
        )
        self._notices = list(loaded.notices)
        self._assembly = Assembly(options, project, loaded.settings, ui, self._notices)
        self._warming: asyncio.Task[None] | None = None
        self._session: Session | None = None
        self._bench: Workbench | None = None
        self._named: str | None = None
        """The model in use, as it was named; None for the one of the settings."""

    # ---- what commands and ui see ----------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        assert self._session is not None
        return self._session

    @property
    def notices(self) -> Sequence[Notice]:
        """What has become known since they were last asked for."""
        news = tuple(self._notices)
        self._notices.clear()
        return news

    @property
    def past(self) -> Past:
        assert self._bench is not None
        return self._bench.past

    @property
    def code(self) -> CodeIndex:
        assert self._bench is not None
        return self._bench.code

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
        history = await self._open(found.path, connection)
        await session.aclose()
        return self._begin(history, connection, "resume")

    async def fork(self, session: Session, name: str | None) -> Session:
        connection = await self._connect(self._named)
        id = new_session_id(datetime.now())
        info = replace(self._info(connection.model.name, parent=session.id), id=id, name=name)
        target = self._catalog.path(self._project.id, id)
        session.history.repair_pairs()
        await fork_session(session.history.path, target, info)
        history, mode = await self._open(target, connection), session.mode
        await session.aclose()
        copy = self._begin(history, connection, "resume")
        copy.mode = mode
        return copy

    def keep(self, key: str, value: object) -> None:
        write_setting(self._options.home.config, key, value)

    async def diagnose(self) -> Diagnosis:
        return await check_up(await self._endpoints.spoken(self._named), self._options.home)

    async def use_model(self, session: Session, name: str) -> Session:
        connection = await self._connect(name)
        assert self._bench is not None
        session.history.repair_pairs()
        session.history.reshape(connection.shape)
        await session.memory.aclose()
        await session.model.provider.aclose()
        self._session = self._assembly.session(session.history, connection, self._bench, "model")
        return self._session

    # ---- the first session -----------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the session that the options ask for."""
        connection = await self._connect(None)
        found = await self._wanted()
        if found is None:
            history, reason = self._new(connection), "start"
        elif self._options.fork:
            info = self._info(connection.model.name, parent=found.id)
            target = self._catalog.path(self._project.id, info.id)
            await fork_session(found.path, target, info)
            history, reason = await self._open(target, connection), "resume"
        else:
            history, reason = await self._open(found.path, connection), "resume"
        if self._options.name and history.name != self._options.name:
            history.rename(self._options.name)
        self._begin(history, connection, "start" if reason == "start" else "resume")
        if self._ui.interactive:
            # The first Enter should not wait for an import.
            self._warming = asyncio.create_task(self._warm(self.session))

    async def _warm(self, session: Session) -> None:
        await session.model.provider.warm()
        await session.memory.prepare("")
        if hint := await session.memory.elsewhere():
            self._notices.append(hint)

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

    async def _open(self, path: Path, connection: Connection) -> History:
        return await open_session(path, shape=connection.shape, estimate=self._assembly.estimate)

    def _new(self, connection: Connection) -> History:
        info = self._info(connection.model.name)
        path = self._catalog.path(self._project.id, info.id)
        if path.exists():
            raise SessionError(
                "There is a session {id} already.", id=info.id, hint=f"To go on with it: codeagent --resume {info.id}"
            )
        return new_session(path, info, shape=connection.shape, estimate=self._assembly.estimate)

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

    def _begin(self, history: History, connection: Connection, reason: PromptReason) -> Session:
        """A session with a workbench of its own."""
        self._notices += history.notices
        self._bench = self._assembly.workbench(history)
        self._session = self._assembly.session(history, connection, self._bench, reason)
        return self._session

    async def _connect(self, name: str | None) -> Connection:
        connection = await self._endpoints.connect(name)
        self._notices += connection.notices
        self._named = name
        return connection


def _row(found: Found, now: float) -> Row:
    return Row(found.id, (age(now - found.modified), found.name or found.first or "(empty)", _size(found.size)))


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
