"""What a command would destroy that git does not have: files and sizes, for the person to decide by."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.tools import Action
from codeagent.safety.repositories import looks_only
from codeagent.safety.threats import Reach, Threat, threats

_NAMED = 5
_MOST = 20_000
"""Files that are counted."""
_SECONDS = 5.0
"""How long git may take to answer."""
_KEEPS = {
    "git push --force": "What the remote has is replaced",
    "git stash drop": "Stashed work is dropped",
    "git stash clear": "All stashed work is dropped",
    "git branch -D": "Commits of the branch may be lost",
    "mv": "It leaves the folder",
    "chmod -R": "Modes of all files are changed",
    "chown -R": "Owners of all files are changed",
    "chgrp -R": "Groups of all files are changed",
}


@dataclass(frozen=True, slots=True)
class Loss:
    """`files`: (path, bytes) of what git does not have; `unsaved` those among them that are too large to be saved;
    `words`: what else happens."""

    files: tuple[tuple[str, int], ...] = ()
    unsaved: tuple[tuple[str, int], ...] = ()
    words: tuple[str, ...] = ()

    def told(self, cwd: str) -> str:
        """One line for the person."""
        parts = list(self.words)
        if self.files:
            parts.append(f"Not in git: {_listed(self.files, cwd)}")
        if self.unsaved:
            parts.append(f"Too large to be saved first: {_listed(self.unsaved, cwd)}")
        return ". ".join(parts)


class Losses:
    """Looks before a command runs; nothing is run but a git that only looks."""

    def __init__(self, environ: Mapping[str, str], limit: int) -> None:
        """`limit`: bytes of a file that can be saved."""
        self._environ = environ
        self._limit = limit

    async def of(self, action: Action) -> Loss | None:
        """What `action` would destroy; None when that is nothing."""
        found = threats(action)
        return await asyncio.to_thread(self._of, found) if found else None

    def _of(self, found: Iterable[Threat]) -> Loss | None:
        files: dict[str, int] = {}
        words = []
        for threat in found:
            if threat.reach == "elsewhere":
                words.append(_KEEPS[threat.what])
                continue
            for path in threat.paths:
                files |= dict(self._lost(path, threat.reach))
        unsaved = tuple((path, size) for path, size in files.items() if size > self._limit)
        return Loss(tuple(files.items()), unsaved, tuple(dict.fromkeys(words))) if files or words else None

    def _lost(self, path: str, reach: Reach) -> Iterator[tuple[str, int]]:
        folder = path if os.path.isdir(path) and not os.path.islink(path) else os.path.dirname(path)
        states = self._status(folder, path)
        if states is None:
            yield from _sizes([path]) if reach == "named" else ()
            return
        for state, each in states:
            known = state not in ("??", "!!")
            wanted = {"named": True, "changed": known, "untracked": state == "??", "ignored": not known}[reach]
            if wanted:
                yield from _sizes([each])

    def _status(self, folder: str, path: str) -> list[tuple[str, str]] | None:
        """(state, path) of all at `path` that git does not have as it is; None where there is no git to ask."""
        top = next((above for above in (Path(folder), *Path(folder).parents) if (above / ".git").exists()), None)
        if top is None or not looks_only(Path(folder), "status") or ".git" in Path(path).relative_to(top).parts:
            return None
        command = ["git", "-C", str(top), "--no-optional-locks", "status", "--porcelain=v1", "-z", "--no-renames"]
        command += ["--untracked-files=all", "--ignored=matching", "--", path]
        try:
            done = subprocess.run(command, env=self._environ, capture_output=True, timeout=_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        rows = os.fsdecode(done.stdout).split("\0")
        return [(row[:2], os.path.join(top, row[3:]).rstrip("/")) for row in rows if len(row) > 3]


def _sizes(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    waiting, left = list(paths), _MOST
    while waiting and left:
        path = waiting.pop()
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                waiting += [entry.path for entry in os.scandir(path) if entry.name != ".git"]
                continue
            yield path, os.lstat(path).st_size
        except OSError:
            continue
        left -= 1


def _listed(files: tuple[tuple[str, int], ...], cwd: str) -> str:
    largest = sorted(files, key=lambda pair: -pair[1])[:_NAMED]
    named = ", ".join(f"{os.path.relpath(path, cwd)} ({_bytes(size)})" for path, size in largest)
    if len(files) <= _NAMED:
        return named
    return f"{len(files):,} files, {_bytes(sum(size for _, size in files))}: {named} …"


def _bytes(size: int) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size = size / 1_000  # type: ignore[assignment]
    return f"{size:.1f} GB"
