"""Earlier versions of task memory, kept by the project's own repository."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.memory.audit import Audit
from codeagent.memory.decoding import decode

_QUIET = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "commit.gpgsign=false")
"""Nothing else runs along: no hook, no watcher, no question for a key."""
_SECONDS = 20.0
_MOST = 30
_PLAIN = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Version:
    """One commit that changed a file of task memory."""

    id: str
    at: str
    """ISO 8601."""
    subject: str


class Versions:
    """Runs git in the project; hooks of the repository are for code, and are left out."""

    def __init__(self, top: Path, memory: Path, environ: Mapping[str, str]) -> None:
        self._top = top
        self._memory = memory
        self._environ = {**environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}

    async def commit(self, names: Sequence[str], subject: str) -> None:
        """Commit these files of the memory folder, also that they are gone, and nothing else. Raises StoreError."""
        paths = [str(self._memory / name) for name in names]
        there = await asyncio.to_thread(lambda: [path for path in paths if os.path.lexists(path)])
        gone = [path for path in paths if path not in there]
        if there:
            await self._add(there)
        if gone:
            await self._git("rm", "--cached", "--quiet", "--ignore-unmatch", "--", *gone)
        options = ("--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z")
        changed = await self._git("diff", *options, "--", *paths)
        if changed:
            roots = [f":(top,literal){path}" for path in _rows(changed)]
            await self._git("commit", "--no-verify", "-q", "-m", subject, "--", *roots)

    async def versions(self) -> list[Version]:
        """The newest first. Raises StoreError where there is no repository."""
        out = await self._git("log", f"-{_MOST}", "--format=%h%x09%cI%x09%s", "--", str(self._memory))
        rows = (line.split("\t", 2) for line in (decode(out) or "").splitlines())
        return [Version(*row) for row in rows if len(row) == 3]

    async def content(self, version: str, names: Sequence[str]) -> dict[str, bytes]:
        """The files as they were at `version`; those that did not exist are left out. Raises StoreError."""
        commit = await self._commit(version)
        place = self._memory.relative_to(self._top).as_posix()
        listed = await self._git("ls-tree", "--full-tree", "-z", commit, "--", f"{place}/")
        modes = {path: entry.split()[0] for entry, _, path in (row.partition("\t") for row in _rows(listed))}
        wanted = {name: f"{place}/{name}" for name in names if f"{place}/{name}" in modes}
        if odd := next((name for name, path in wanted.items() if modes[path] not in _PLAIN), None):
            raise StoreError("{name} is no plain file in that version.", name=odd)
        return {name: await self._git("cat-file", "blob", f"{commit}:{path}") for name, path in wanted.items()}

    async def _add(self, paths: Sequence[str]) -> None:
        try:
            await self._git("add", "--", *paths)
        except StoreError:
            if not await self._says("check-ignore", "--", *paths):
                raise
            told = "git ignores {folder}. Take it out of .gitignore, or set memory.git_commit to false."
            raise StoreError(told, folder=self._memory.relative_to(self._top).as_posix()) from None

    async def _commit(self, version: str) -> str:
        await self._git("rev-parse", "--git-dir")
        name = f"{version}^{{commit}}"
        if version.startswith("-") or not await self._says("rev-parse", "--verify", "--quiet", name):
            raise StoreError("There is no version {version}: /memory rollback lists those there are.", version=version)
        return (await self._git("rev-parse", "--verify", "--quiet", name)).decode().strip()

    async def _says(self, *arguments: str) -> bool:
        """Whether git agrees."""
        try:
            await self._git(*arguments)
        except StoreError:
            return False
        return True

    async def _git(self, *arguments: str) -> bytes:
        try:
            child = await asyncio.create_subprocess_exec(
                "git",
                *_QUIET,
                *arguments,
                cwd=self._top,
                env=self._environ,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise StoreError("git cannot be run: {reason}.", reason=error.strerror or error) from error
        try:
            out, err = await asyncio.wait_for(child.communicate(), _SECONDS)
        except TimeoutError:
            raise StoreError("git {what} took too long.", what=arguments[0]) from None
        finally:
            if child.returncode is None:
                child.kill()
        if child.returncode:
            reason = (decode(err) or "").strip().split("\n")[0]
            raise StoreError("git refuses: {reason}.", reason=reason.rstrip(".") or f"exit {child.returncode}")
        return out


class Commits:
    """Makes versions of changes by themselves, where that is `wanted`; what goes wrong is told and harmless."""

    def __init__(self, versions: Versions, audit: Audit, *, wanted: bool) -> None:
        self._versions = versions
        self._audit = audit
        self._wanted = wanted
        self._told: set[str] = set()
        self._notices: list[Notice] = []

    async def keep(self, names: Sequence[str], subject: str) -> None:
        """Commit these files of the memory folder, if they have changed."""
        if not self._wanted:
            return
        try:
            await self._versions.commit(names, subject)
        except StoreError as error:
            self._audit.log("refusal", f"commit: {error}")
            if str(error) not in self._told:
                self._told.add(str(error))
                told = "Task memory was changed and not committed: {error}"
                self._notices.append(Notice(told, {"error": str(error)}, "warning"))

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, each told once."""
        news = tuple(self._notices)
        self._notices.clear()
        return news


def _rows(out: bytes) -> list[str]:
    """What git lists with -z."""
    return [row.decode("utf-8", "surrogateescape") for row in out.split(b"\0") if row]
