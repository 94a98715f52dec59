"""A folder whose changes are saved: tools are stood in for by functions and by real shell commands."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeagent.core.events import Notice
from codeagent.core.tools import Action, Command
from codeagent.safety.checkpoints.back import Plan, Restored
from codeagent.safety.checkpoints.saved import SavedWork
from codeagent.safety.checkpoints.store import Store
from codeagent.safety.checkpoints.tree import Tree

GIT = {
    **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass
class Book:
    """Implements `timeline.Log` in a file of lines."""

    file: Path
    turn: int = 1

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def write(self, fields: Mapping[str, object]) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps(fields) + "\n")

    def read(self) -> Sequence[Mapping[str, Any]]:
        return self.rows


class Place:
    """`top` is the project, `home` where the store is."""

    def __init__(self, folder: Path, *, limit: int = 100_000, bound: int = 50_000_000, most: int = 10_000) -> None:
        self.top = Path(os.path.realpath(folder)) / "项目"
        self.top.mkdir(exist_ok=True)
        self.home = folder / "home"
        self.limit, self.bound, self.most = limit, bound, most
        self.book = Book(folder / "book.jsonl")
        self.told: list[Notice] = []
        self.saved = self.open()

    def open(self) -> SavedWork:
        """As another process of the same session would."""
        self.store = Store(self.home / "store.db", self.bound)
        tree = Tree(
            [str(self.top)], self.store, skip=[str(self.home)], limit=self.limit, room=self.bound, most=self.most
        )
        self.saved = SavedWork(
            self.store,
            tree,
            self.book,
            self.told.append,
            session="s1",
            looks=lambda action: action.subject.startswith("ls"),
            limit=self.limit,
        )
        return self.saved

    async def edit(self, change: Callable[[], object], *paths: str) -> None:
        first, *others = (str(self.top / path) for path in paths)
        async with self.saved.around(Action("edit_file", "edit", first, "Edit", also=tuple(others))):
            change()

    async def run(self, command: str) -> None:
        async with self.saved.around(self.action(command)):
            await asyncio.to_thread(self.shell, command)

    def action(self, command: str) -> Action:
        return Action("shell", "run", command, "Run", Command(command, str(self.top)))

    def shell(self, command: str) -> None:
        subprocess.run(["bash", "-c", command], cwd=self.top, env={**os.environ, **GIT}, capture_output=True)

    async def undo(self, *, over: bool = False) -> Restored | None:
        return await self._go(await self.saved.back.undoing(), over)

    async def redo(self, *, over: bool = False) -> Restored | None:
        return await self._go(await self.saved.back.redoing(), over)

    async def _go(self, plan: Plan | None, over: bool) -> Restored | None:
        return None if plan is None else await self.saved.back.carry_out(plan, over=over)

    def file(self, name: str, content: str | bytes = "", mode: int = 0o644) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    def tree(self, *, times: bool = True) -> dict[str, object]:
        """All that there is, but for what is git's own: kind, mode, content, and the time of files."""
        return {
            str(path.relative_to(self.top)): _look(path, times)
            for path in sorted(self.top.rglob("*"))
            if ".git" not in path.relative_to(self.top).parts
        }


def _look(path: Path, times: bool) -> object:
    looks = path.lstat()
    if path.is_symlink():
        return path.readlink()
    if path.is_dir():
        return stat.S_IMODE(looks.st_mode)
    return (stat.S_IMODE(looks.st_mode), path.read_bytes(), looks.st_mtime_ns if times else 0)
