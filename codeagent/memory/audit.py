"""What happened to memory: one line each in `log/memory.log` of the project, and the block as it was last injected."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from codeagent.core.display import visible
from codeagent.core.paths import Project
from codeagent.memory.folder import put, ready, within

SIZE = 1_000_000
"""Bytes of the log before it is set aside as `memory.log.1`."""
_LINE = 400


def digest(text: str) -> str:
    """Twelve hex digits that stand for `text`; "" for nothing."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12] if text else ""


class Audit:
    """Writes only where the project has a `.code-agent-cli/` already; a disk that refuses is no trouble of anybody."""

    def __init__(self, project: Project, now: Callable[[], datetime]) -> None:
        self._folder = project.folder
        self._top = project.top
        self._now = now

    @property
    def path(self) -> Path:
        return self._folder / "log" / "memory.log"

    @property
    def context(self) -> Path:
        """Holds exactly the block that was injected last."""
        return self._folder / "log" / "injected_context.txt"

    def log(self, event: str, text: str) -> None:
        """`[YYYY-mm-dd HH:MM:SS] event: text`, in local time."""
        line = f"[{self._now().astimezone():%Y-%m-%d %H:%M:%S}] {event}: {' '.join(visible(text).split())[:_LINE]}\n"
        with suppress(OSError):
            if self._open():
                if self.path.exists() and self.path.stat().st_size > SIZE:
                    self.path.replace(self.path.with_name("memory.log.1"))
                with self.path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(line)

    def keep(self, block: str) -> None:
        """Keep `block` as what is injected now."""
        with suppress(OSError):
            there = self.context.exists()
            if (block or there) and self._open() and not (there and self.context.read_bytes() == block.encode()):
                put(self.context, block.encode())

    def tail(self, lines: int) -> list[str]:
        """The newest lines of the log, oldest first."""
        try:
            with self.path.open(encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n") for line in deque(file, maxlen=lines)]
        except OSError:
            return []

    def _open(self) -> bool:
        """Whether there is a place to write to; a pipe is none, nor is a link that leads out."""
        if not self._folder.is_dir():
            return False
        ready(self._folder)
        self.path.parent.mkdir(exist_ok=True)
        regular = self.path.is_file() or not self.path.exists()
        return regular and within(self.path, self._top) and within(self.context, self._top)
