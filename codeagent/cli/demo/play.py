"""The performance: opens real sessions with the scripted model, says the lines, and proves what it claims."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from codeagent import __version__
from codeagent.agent.session import Session
from codeagent.app import open_desk
from codeagent.cli.demo.script import Scene, Script, Sitting, read_script
from codeagent.cli.demo.stage import LOOK, LineStage, Pace, ScreenStage, Stage, tell
from codeagent.cli.demo.world import PYTHON, World, temporary_world
from codeagent.cli.output import leave_pipe, say
from codeagent.core.errors import CodeAgentError, ConfigError
from codeagent.options import Options
from codeagent.settings import Settings, load_settings
from codeagent.text.segment import Segmenter
from codeagent.ui.look import Look
from codeagent.ui.plain import CELLS
from codeagent.ui.rows import fit, text_of, wrap_text
from codeagent.ui.talk import Talk

INTERRUPTED = 130


async def perform(options: Options, *, fast: bool, keep: bool) -> int:
    """Show everything, then take the temporary folder away; returns the exit code."""
    settings = _settings(options)
    language = spoken(settings.language, options.environ)
    script = read_script(language, {"python": PYTHON})
    try:
        with temporary_world(options.environ, script.files, keep=keep) as world:
            finished = await Play(script, world, _look(world, settings), Pace(not fast and sys.stdout.isatty())).run()
    except BrokenPipeError:
        leave_pipe()
    _say(script.closing if finished else script.stopped)
    if keep:
        _say(script.kept.format(folder=world.folder))
    return 0 if finished else INTERRUPTED


def _say(text: str) -> None:
    cells = shutil.get_terminal_size((CELLS, 24)).columns - 1
    say("\n" + text_of(wrap_text(text, cells)))


def spoken(language: str, environ: Mapping[str, str]) -> str:
    """The language of the demonstration: that of the setting, else of the system."""
    said = language or next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environ.get(name))), "")
    return "zh" if said.lower().startswith("zh") else "en"


def _settings(options: Options) -> Settings:
    """The person's own settings, for looks and language; a broken file is no reason not to show anything."""
    with contextlib.suppress(ConfigError):
        return load_settings(options.flags(), options.environ, options.home, None).settings
    return Settings()


def _look(world: World, settings: Settings) -> Look:
    return Look(cwd=world.project, version=__version__, model="scripted", theme=settings.theme, environ=world.environ)


class Play:
    """One performance of a script in a world."""

    def __init__(self, script: Script, world: World, look: Look, pace: Pace) -> None:
        self._script = script
        self._world = world
        self._look = look
        self._pace = pace
        self._stopped = False
        self._playing: asyncio.Task[None] | None = None
        self._talk: Talk | None = None

    async def run(self) -> bool:
        """Whether it came to its end; False when the person stopped it."""
        drawn = not self._look.dumb and sys.stdin.isatty() and sys.stdout.isatty()
        stage: Stage = ScreenStage(self._look, self._pace, self._stop) if drawn else LineStage(self._pace)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop)
        # In a home of its own the dictionary is made anew, which takes a second or two.
        warming = asyncio.create_task(asyncio.to_thread(Segmenter(self._world.home.cache).warm))
        self._playing = asyncio.create_task(self._play(stage, warming))
        try:
            await self._playing
        except asyncio.CancelledError:
            if not self._stopped:
                raise
        finally:
            self._playing = None
            await stage.close()
            await asyncio.wait({warming})
        return not self._stopped

    def _stop(self) -> None:
        """End it: a running turn first closes its calls."""
        if self._playing is None:
            return
        self._stopped = True
        if self._talk is not None and self._talk.in_turn:
            self._talk.interrupt()
        else:
            self._playing.cancel()

    async def _play(self, stage: Stage, warming: asyncio.Task[None]) -> None:
        tell(stage, self._script.intro)
        await self._pace.read(self._script.intro)
        await asyncio.shield(warming)
        session = None
        for number, sitting in enumerate(self._script.sittings):
            session = await self._sit(stage, sitting, number, session)

    async def _sit(self, stage: Stage, sitting: Sitting, number: int, session: str | None) -> str:
        """Open a session, or the one of that id again; say the lines, leave. Returns the session's id."""
        steps = self._world.write_steps(f"model-{number}", sitting.steps(paced=self._pace.on))
        tell(stage, sitting.tell)
        await self._pace.read(sitting.tell)
        desk = await open_desk(self._options(steps, session), stage.ui)
        talk = self._talk = Talk(stage.surface, stage.ui, desk, self._look)
        try:
            head = f"codeagent {__version__} · scripted · {self._look.folder}"
            stage.surface.write([[("class:dim", fit(head, stage.surface.cells))]])
            stage.follow(talk)
            talk.greet()
            for scene in sitting.scenes:
                await self._scene(stage, talk, scene)
        finally:
            self._talk = None
            await talk.close()
        return talk.session.id

    async def _scene(self, stage: Stage, talk: Talk, scene: Scene) -> None:
        if scene.tell:
            tell(stage, scene.tell)
            await self._pace.read(scene.tell)
        await stage.type(scene.say)
        if not await talk.handle(scene.say):
            talk.farewell()
        if self._stopped:
            raise asyncio.CancelledError
        for words in scene.carried:
            if words not in _request(talk.session):
                raise CodeAgentError("What was said earlier is not in the request: {words}", words=words)
            tell(stage, self._script.proof.format(words=words), "class:good", group="proof")
        await self._pace.wait(LOOK)

    def _options(self, steps: Path, session: str | None) -> Options:
        return Options(
            cwd=self._world.project,
            home=self._world.home,
            environ=self._world.environ,
            provider="scripted",
            base_url=str(steps),
            resume=session,
        )


def _request(session: Session) -> str:
    """What the newest turn's first request carried from earlier ones: the prompt and the messages before the turn."""
    history = session.history
    earlier = (entry.wire.decode() for entry in history.entries if entry.turn < history.turn)
    return "\n".join([history.prompt.system, *earlier])
