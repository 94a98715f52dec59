"""Child processes: started in about a millisecond, read without polling, ended with all they started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from codeagent.core.jobs import Confinement

_CHUNK = 256 * 1024
_FLOOD = 16_000_000
"""Bytes of output after which a program is listened to with pauses."""
_PAUSE = 0.002
_PROC = Path("/proc")
MARK = "_CODEAGENT_COMMAND"
"""The variable by which what a command started is known, also where it went to a session of its own."""
GRACE = 0.5
"""Seconds between the polite and the final signal."""


class Child:
    """A program in a session of its own, with no terminal and a closed standard input.

    `output` is called with each piece of standard output and error, mixed, as it comes.

    Raises:
        OSError: the program or the folder does not exist.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        output: Callable[[bytes], None],
        mark: str = "",
        inherited: Sequence[int] = (),
        sandbox: Confinement | None = None,
    ) -> None:
        """`mark` is a word that no other program has; `inherited` are open files that it gets under their numbers."""
        self._loop = asyncio.get_running_loop()
        self._mark = mark
        if mark:
            environ = {**environ, MARK: f"{environ.get(MARK, '')} {mark}".strip()}
        self._output = output
        self._reader, writer = os.pipe()

        def start(words: Sequence[str]) -> subprocess.Popen[bytes]:
            # Not asyncio's own: in Python 3.11 that starts a thread for every child.
            return subprocess.Popen(
                words,
                cwd=cwd,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=tuple(inherited),
            )

        try:
            self._process = sandbox.launch(argv, start) if sandbox is not None else start(argv)
        except BaseException:
            os.close(self._reader)
            raise
        finally:
            os.close(writer)
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.drained: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(self._reader, False)
        self._got = 0
        self._listen()
        self._watch()

    @property
    def session(self) -> int:
        """Id of the session and process group that the program leads."""
        return self._process.pid

    def _watch(self) -> None:
        if hasattr(os, "pidfd_open"):
            handle = os.pidfd_open(self._process.pid)
            self._loop.add_reader(handle, self._reap, handle)
        else:
            self._waiter = self._loop.create_task(asyncio.to_thread(self._process.wait))
            self._waiter.add_done_callback(lambda done: self._ended())

    def _reap(self, handle: int) -> None:
        self._loop.remove_reader(handle)
        os.close(handle)
        self._ended()

    def _ended(self) -> None:
        code = self._process.wait()
        if not self.exited.done():
            self.exited.set_result(code)

    def _read(self) -> None:
        try:
            data = os.read(self._reader, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._output(data)
        self._got += len(data)
        if self._got > _FLOOD and not self.drained.done():
            # Nobody will read all of this: the program waits, and other work goes on.
            self._loop.remove_reader(self._reader)
            self._loop.call_later(_PAUSE, self._listen)

    def _listen(self) -> None:
        if not self.drained.done():
            self._loop.add_reader(self._reader, self._read)

    def hand_over(self, argv: Sequence[str], file: IO[bytes]) -> None:
        """Stop listening; a program of its own goes on, and writes to `file`. Raises OSError."""
        if not self.drained.done():
            os.set_blocking(self._reader, True)
            subprocess.Popen(argv, stdin=self._reader, stdout=file, stderr=subprocess.DEVNULL, start_new_session=True)
            self.close()

    def close(self) -> None:
        """Stop listening to what is printed."""
        if not self.drained.done():
            self._loop.remove_reader(self._reader)
            os.close(self._reader)
            self.drained.set_result(None)

    def alive(self) -> bool:
        """Whether the program or anything it started in its session still runs."""
        if self._process.returncode is None:
            return True
        return _group_lives(self.session) and bool(survivors([self.session]))

    def signal(self, number: int) -> None:
        """Send a signal to the program and everything it started, also where that made groups of its own."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.session, number)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def processes(self) -> list[int]:
        """Ids of all that the program started and that lives."""
        return survivors([self.session], self._mark)

    async def stop(self) -> None:
        """End the program and all it started: politely first, for good after half a second."""
        try:
            self.signal(signal.SIGTERM)
            both: list[asyncio.Future[Any]] = [self.exited, self.drained]
            await asyncio.wait(both, timeout=GRACE)
        finally:
            self.signal(signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self.exited), GRACE)
        self.close()


def survivors(sessions: Iterable[int], mark: str = "") -> list[int]:
    """Living processes of sessions whose leader we started: by the process table, else (no /proc) by their groups.
    With a `mark` those too that carry it in their environment: they left the session.

    The number of a session cannot be given to a new process while a member lives. Where a process leads the session
    that is no child of ours, the number has been used again, and its processes are none of our business.
    """
    wanted = set(sessions)
    if not wanted and not mark:
        return []
    if not _PROC.joinpath("self", "stat").exists():
        return [-group for group in wanted if _group_lives(group)]
    living = [
        (int(entry.name), *row)
        for entry in os.scandir(_PROC)
        if entry.name.isdigit() and (row := _stat(entry.name)) is not None
    ]
    found = [row for row in living if row[2] in wanted]
    reused = {session for pid, parent, session in found if pid == session and parent != os.getpid()}
    inside = [pid for pid, _, session in found if session not in reused]
    if not mark:
        return inside
    return inside + [pid for pid, _, session in living if session not in wanted and _carries(pid, mark.encode())]


def _carries(pid: int, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 (read for every process there is)
            return mark in file.read()
    except OSError:
        return False


def _stat(pid: str) -> tuple[int, int] | None:
    """Parent and session of a living process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (read for every process there is)
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in b"ZX" else (int(fields[1]), int(fields[3]))


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def capture(
    argv: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    enough: Callable[[bytearray], bool] | None = None,
    sandbox: Confinement | None = None,
) -> tuple[bytes, int | None]:
    """All that a short-lived program prints and its exit code; None when it was ended because `enough` said so."""
    got = bytearray()
    full = asyncio.get_running_loop().create_future()

    def keep(data: bytes) -> None:
        got.extend(data)
        if enough is not None and not full.done() and enough(got):
            full.set_result(None)

    child = Child(argv, cwd=cwd, environ=environ, output=keep, sandbox=sandbox)
    try:
        await asyncio.wait([full, child.drained], return_when=asyncio.FIRST_COMPLETED)
        if full.done():
            return bytes(got), None
        return bytes(got), await child.exited
    finally:
        full.cancel()
        if not child.exited.done():
            child.signal(signal.SIGKILL)
        child.close()
