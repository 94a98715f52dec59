"""Timing whole processes, on a pipe and on a pseudo-terminal."""

from __future__ import annotations

import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pexpect

PYTHON = sys.executable
CODEAGENT = str(Path(PYTHON).with_name("codeagent"))


def median(measure: Callable[[], float], runs: int) -> float:
    """Median of `runs` after one warm-up."""
    measure()
    return statistics.median(measure() for _ in range(runs))


def wall(command: Sequence[str], environ: Mapping[str, str] | None = None) -> float:
    """Seconds of one whole run, its output thrown away."""
    started = time.perf_counter()
    subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - started


@contextmanager
def world(base_url: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A fresh repository and an environment with a fresh home that points at `base_url`."""
    folder = Path(tempfile.mkdtemp(prefix="codeagent-bench-"))
    try:
        project = folder / "project"
        project.mkdir()
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        environ = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
        environ |= {
            "CODEAGENT_HOME": str(folder / "home"),
            "CODEAGENT_BASE_URL": base_url,
            "CODEAGENT_API_KEY": "none",
            "CODEAGENT_MODEL": "scripted",
            "CODEAGENT_CONTEXT_WINDOW": "1000000",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "TERM": "xterm-256color",
            "COLUMNS": "100",
            "LINES": "30",
        }
        yield project, environ
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Terminal:
    """A program in a pseudo-terminal, read as raw bytes."""

    def __init__(self, command: Sequence[str], *, cwd: Path | None = None, environ: Mapping[str, str]) -> None:
        self.started = time.perf_counter()
        self.child = pexpect.spawn(
            command[0], list(command[1:]), cwd=cwd, env=dict(environ), dimensions=(30, 100), timeout=30
        )
        self.child.delaybeforesend = None
        self.output = b""

    @property
    def pid(self) -> int:
        return int(self.child.pid)

    def send(self, text: str) -> None:
        self.child.send(text)

    def wait(self, wanted: bytes, since: int = 0, timeout: float = 30) -> float:
        """Seconds from the spawn until `wanted` stood in the output behind byte `since`."""
        end = time.perf_counter() + timeout
        while wanted not in self.output[since:]:
            if time.perf_counter() > end:
                raise TimeoutError(f"{wanted!r} did not come; got {self.output[-300:]!r}")
            self.read(0.5)
        return time.perf_counter() - self.started

    def read(self, seconds: float) -> int:
        """Read what comes within `seconds`, return at the first piece; its size."""
        ready, _, _ = select.select([self.child.child_fd], [], [], seconds)
        if not ready:
            return 0
        try:
            piece = os.read(self.child.child_fd, 65536)
        except OSError:
            piece = b""
        self.output += piece
        return len(piece)

    def close(self) -> None:
        self.child.kill(signal.SIGKILL)
        self.child.close(force=True)


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name: str, *cells: str) -> None:
    print(f"{name:<44} " + "  ".join(f"{cell:>14}" for cell in cells), flush=True)


def table(name: str, *cells: str) -> None:
    """A row of many narrow cells."""
    print(f"{name:<20}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
