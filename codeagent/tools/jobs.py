"""The child processes of a session: every command is a job; those that take long are kept in the background."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import itertools
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from codeagent.core.display import plain
from codeagent.core.jobs import Job
from codeagent.tools.encodings import decode_output
from codeagent.tools.process import GRACE, Child, survivors
from codeagent.tools.spool import Spool

_LINGER = 0.05
"""Seconds that output may still come in after the command has ended."""
_PROGRESS = 0.05
"""Seconds between two pieces of progress."""
_PIECE = 4_000
"""Bytes of one piece of progress; what came before it is not shown."""
_KEPT = 20
"""Ended background jobs that are remembered."""


class ShellJob:
    """Implements `jobs.Job`."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        progress: Callable[[str], None] | None,
    ) -> None:
        self._command = argv[-1]
        self._loop = asyncio.get_running_loop()
        self._spool = Spool()
        self._progress = progress
        self._reported = self._read = 0
        self._timer: asyncio.TimerHandle | None = None
        self._done: asyncio.Future[int] = self._loop.create_future()
        self.child = Child(argv, cwd=cwd, environ=environ, output=self._take)
        self.child.exited.add_done_callback(self._settle)
        self.child.drained.add_done_callback(self._settle)

    @property
    def command(self) -> str:
        return self._command

    @property
    def code(self) -> int | None:
        return self._done.result() if self._done.done() else None

    @property
    def size(self) -> int:
        return self._spool.total

    @property
    def lingers(self) -> bool:
        return self._done.done() and (not self.child.drained.done() or self.child.alive())

    async def wait(self, seconds: float) -> bool:
        await asyncio.wait([self._done], timeout=seconds)
        return self._done.done()

    def output(self) -> str:
        return plain(decode_output(self._spool.since()))

    def whole(self) -> Iterator[str] | None:
        """All that it printed, in pieces, where that is more than `output` keeps; else None."""
        return self._lines() if self._spool.gone else None

    def _lines(self) -> Iterator[str]:
        """Pieces that end with a line, so that no character and no escape sequence is cut."""
        rest = b""
        for piece in self._spool.pieces():
            lines, end, rest = (rest + piece).rpartition(b"\n")
            if lines or end:
                yield plain(decode_output(lines + end))
        if rest:
            yield plain(decode_output(rest))

    def unread(self) -> str:
        data = self._spool.since(self._read)
        used = len(data) if self._done.done() else _complete(data)
        self._read = self._spool.total - (len(data) - used)
        return plain(decode_output(data[:used]))

    async def stop(self) -> None:
        await self.child.stop()

    def mute(self) -> None:
        """Report no more progress."""
        self._progress = None
        if self._timer is not None:
            self._timer.cancel()

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
        used = _complete(new)
        self._reported = self._spool.total - (len(new) - used)
        if used:
            self._timer = self._loop.call_later(_PROGRESS, self._report)
            self._progress(plain(new[:used].decode("utf-8", "replace")))


def _complete(data: bytes) -> int:
    """Length of `data` without a character whose end has not come yet."""
    return codecs.utf_8_decode(data, "replace", False)[1]


class JobTable:
    """Implements `jobs.Jobs`. `timeout` is in seconds."""

    def __init__(self, *, timeout: float = 120.0) -> None:
        self._timeout = timeout
        self._kept: dict[str, Job] = {}
        self._running: set[ShellJob] = set()
        self._sessions: set[int] = set()
        self._numbers = itertools.count(1)

    @property
    def timeout(self) -> float:
        return self._timeout

    def start(
        self, command: str, *, cwd: Path, environ: Mapping[str, str], progress: Callable[[str], None] | None = None
    ) -> ShellJob:
        shell = shutil.which("bash", path=environ.get("PATH")) or "/bin/sh"
        job = ShellJob([shell, "-c", command], cwd=cwd, environ=environ, progress=progress)
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

    async def aclose(self) -> None:
        """End every process that any command left behind."""
        try:
            if await asyncio.to_thread(_signal, self._sessions, signal.SIGTERM):
                drained = [job.child.drained for job in self._running]
                await (asyncio.wait(drained, timeout=GRACE) if drained else asyncio.sleep(GRACE))
        finally:
            _signal(self._sessions, signal.SIGKILL)
            for job in tuple(self._running):
                job.mute()
                job.child.close()
            self._sessions.clear()


def _signal(sessions: set[int], number: int) -> bool:
    """Whether there was anyone to signal."""
    found = survivors(sessions)
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return bool(found)
