"""The child processes of a session: every command is a job; those that take long are kept in the background."""

from __future__ import annotations

import asyncio
import copy
import itertools
import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codeagent.core.display import plain
from codeagent.core.jobs import Confinement, Job, Printed
from codeagent.core.private import make_private
from codeagent.tools.deathwatch import DeathWatch
from codeagent.tools.encodings import decode_output
from codeagent.tools.printed import complete, printed
from codeagent.tools.process import GRACE, Child, survivors
from codeagent.tools.shells import Shell
from codeagent.tools.spool import WHOLE, Spool

_LINGER = 0.05
"""Seconds that output may still come in after the command has ended."""
_PROGRESS = 0.05
"""Seconds between two pieces of progress."""
_PIECE = 4_000
"""Bytes of one piece of progress; what came before it is not shown."""
_KEPT = 20
"""Ended background jobs that are remembered."""

Clock = Callable[[], float]
"""Seconds since some moment."""


class ShellJob:
    """Implements `jobs.Job`."""

    def __init__(
        self,
        command: str,
        *,
        cwd: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], None] | None,
        mark: str,
        clock: Clock,
        sandbox: Confinement | None,
    ) -> None:
        self._command = command
        self._loop = asyncio.get_running_loop()
        self._spool = Spool()
        self._progress = progress
        self._reported = self._read = self._given = 0
        self._timer: asyncio.TimerHandle | None = None
        self._done: asyncio.Future[int] = self._loop.create_future()
        self._waiting: set[asyncio.Future[None]] = set()
        self._clock = clock
        self._began, self._seconds = clock(), 0.0
        self.let_go = False
        self.folder: Path | None = None
        self._shell = Shell(command, environ)
        try:
            self.child = Child(
                self._shell.argv,
                cwd=cwd,
                environ=environ,
                output=self._take,
                mark=mark,
                inherited=self._shell.inherited,
                sandbox=sandbox,
            )
        except BaseException:
            self._shell.close()
            raise
        self.child.exited.add_done_callback(self._settle)
        self.child.drained.add_done_callback(self._settle)

    @property
    def command(self) -> str:
        return self._command

    @property
    def code(self) -> int | None:
        return self._done.result() if self._done.done() else None

    @property
    def seconds(self) -> float:
        return self._seconds if self._done.done() else self._clock() - self._began

    @property
    def size(self) -> int:
        return self._spool.total

    @property
    def lingers(self) -> bool:
        return self._done.done() and (not self.child.drained.done() or self.child.alive())

    async def wait(self, seconds: float) -> bool:
        released = self._loop.create_future()
        self._waiting.add(released)
        try:
            await asyncio.wait([self._done, released], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting.discard(released)
        return self._done.done()

    def release(self) -> bool:
        """Let whoever waits go on; False when nobody waits."""
        waiting = [released for released in self._waiting if not released.done()]
        for released in waiting:
            self.let_go = True
            released.set_result(None)
        return bool(waiting)

    def output(self) -> str:
        return plain(decode_output(self._spool.since()))

    def unread(self) -> Printed:
        start, data = self._read, self._spool.since(self._read)
        used = len(data) if self._done.done() else complete(data)
        self._read = self._spool.total - (len(data) - used)
        given, self._given = self._given, self._given + (size := self._read - start)
        whole = self._spool.pieces(start) if given < WHOLE else None
        return printed(data[:used], size, whole)

    async def stop(self) -> None:
        await self.child.stop()

    def mute(self) -> None:
        """Report no more progress."""
        self._progress = None
        if self._timer is not None:
            self._timer.cancel()

    def hand_over(self, path: Path) -> None:
        """From now on what it prints goes to `path`, behind all that it printed so far. Raises OSError."""
        with path.open("wb") as file:
            file.writelines(self._spool.pieces())
            file.flush()
            self.child.hand_over(["cat"], file)

    def _settle(self, _: object) -> None:
        """The command is over when it has exited and its output has ended, or a moment later where others hold it."""
        if not self.child.exited.done() or self._done.done():
            return
        if self.child.drained.done():
            self._finish()
        else:
            self._loop.call_later(_LINGER, self._finish)

    def _finish(self) -> None:
        if not self._done.done():
            self.mute()
            self._seconds = self._clock() - self._began
            self.folder = self._shell.close()
            self._done.set_result(self.child.exited.result())

    def _take(self, data: bytes) -> None:
        self._spool.add(data)
        if self._progress is not None and self._timer is None:
            self._report()

    def _report(self) -> None:
        """Hand on what is new, at most so often and so much, whatever the speed of the command."""
        self._timer = None
        if self._progress is None or self._spool.total == self._reported:
            return
        new = self._spool.since(max(self._reported, self._spool.total - _PIECE))
        used = complete(new)
        self._reported = self._spool.total - (len(new) - used)
        if used:
            self._timer = self._loop.call_later(_PROGRESS, self._report)
            text = new[:used].decode("utf-8", "replace").replace("\r\n", "\n")
            # What draws over itself is shown so: whoever shows it begins the line anew.
            self._progress("\r".join(map(plain, text.split("\r"))))


class JobTable:
    """Implements `jobs.Jobs`. `timeout` is in seconds."""

    def __init__(
        self,
        *,
        timeout: float = 120.0,
        kills: bool = False,
        logs: Path | None = None,
        clock: Clock = time.monotonic,
        sandbox: Confinement | None = None,
    ) -> None:
        """`kills`: past the time limit a command is ended; `logs` is the folder for what outlives the session."""
        self.folder: Path | None = None
        self.sandbox = sandbox
        self._timeout = timeout
        self._kills = kills
        self._logs = logs
        self._clock = clock
        self._kept: dict[str, Job] = {}
        self._running: set[ShellJob] = set()
        self._outliving: dict[Path, ShellJob] = {}
        self._sessions: set[int] = set()
        self._mark = secrets.token_hex(8)
        self._watch = DeathWatch(f"{self._mark}.")
        self._started, self._numbers = itertools.count(1), itertools.count(1)

    def beside(self) -> JobTable:
        """The same jobs as somebody sees them who stands in a folder of their own."""
        other = copy.copy(self)
        other.folder = None
        return other

    @property
    def timeout(self) -> float:
        return self._timeout

    @property
    def kills(self) -> bool:
        return self._kills

    def start(
        self,
        command: str,
        *,
        cwd: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], None] | None = None,
        free: bool = False,
    ) -> ShellJob:
        self._watch.begin(environ)
        mark = f"{self._mark}.{next(self._started)}."
        sandbox = None if free else self.sandbox
        job = ShellJob(
            command, cwd=cwd, environ=environ, progress=progress, mark=mark, clock=self._clock, sandbox=sandbox
        )
        self._sessions.add(job.child.session)
        self._running.add(job)
        job.child.drained.add_done_callback(lambda _: self._running.discard(job))
        return job

    def keep(self, job: Job) -> str:
        for id, kept in self._kept.items():
            if kept is job:
                return id
        job.mute()
        ended = [id for id, kept in self._kept.items() if kept.code is not None and not kept.lingers]
        for id in ended[: max(len(ended) - _KEPT, 0)]:
            del self._kept[id]
        id = f"job{next(self._numbers)}"
        self._kept[id] = job
        return id

    def find(self, id: str) -> Job | None:
        return self._kept.get(id)

    def kept(self) -> Sequence[tuple[str, Job]]:
        return tuple(self._kept.items())

    def release(self) -> bool:
        released = [job.release() for job in tuple(self._running)]
        return any(released)

    def outlive(self, id: str) -> Path | None:
        kept = self._kept.get(id)
        job = next((running for running in self._running if running is kept), None)
        if job is None or self._logs is None:
            return None
        names = (f"{id}.log", *(f"{id}-{number}.log" for number in range(2, 1_000)))
        # A job of that name may have outlived an earlier run of the session, and print there still.
        log = next(path for name in names if not (path := self._logs / name).exists())
        self._outliving[log] = job
        return log

    async def aclose(self) -> None:
        """End every process that any command left behind, but for those that may outlive the session."""
        spared = self._part()
        try:
            if await asyncio.to_thread(_signal, self._sessions, self._mark, spared, signal.SIGTERM):
                drained = [job.child.drained for job in self._running]
                await (asyncio.wait(drained, timeout=GRACE) if drained else asyncio.sleep(GRACE))
        finally:
            _signal(self._sessions, self._mark, spared, signal.SIGKILL)
            for job in tuple(self._running):
                job.mute()
                job.child.close()
            self._sessions.clear()
            await asyncio.to_thread(self._watch.end)
            if self.sandbox is not None:
                self.sandbox.close()

    def _part(self) -> list[ShellJob]:
        """Let go of what may outlive the session. What nobody could listen to any more ends, too."""
        spared = []
        for log, job in self._outliving.items():
            with suppress(OSError):
                make_private(log.parent)
                job.hand_over(log)
                spared.append(job)
        return spared


def _signal(sessions: set[int], mark: str, spared: Sequence[ShellJob], number: int) -> bool:
    """Whether there was anyone to signal."""
    found = set(survivors(sessions, mark))
    for job in spared:  # looked at later: what they start meanwhile is not found, or spared
        found.difference_update(job.child.processes())
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(found)
