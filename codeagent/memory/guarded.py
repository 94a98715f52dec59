"""Hard constraints are the person's: a change that came while something of ours ran counts with their yes alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.memory.audit import Audit
from codeagent.memory.guard import Change
from codeagent.memory.taskfiles import TaskFiles
from codeagent.memory.versions import Commits


class GuardedTattoos:
    """The files of hard constraints while tools run. Until a change is judged the model has what stood there before."""

    def __init__(self, files: TaskFiles, audit: Audit, commits: Commits, now: Callable[[], datetime]) -> None:
        self._files = files
        self._audit = audit
        self._commits = commits
        self._now = now
        self._running = False
        self.suspect = False
        """Whether something that ran since the last rest names these files."""

    @property
    def watching(self) -> bool:
        return self._files.guard.watching

    def watch(self, *, suspect: bool) -> None:
        """A tool begins to run; `suspect`: it names these files."""
        self._files.guard.watch()
        self._running = True
        self.suspect = self.suspect or suspect

    def ran(self, *, lingering: bool) -> None:
        """It has ended, and its changes are judged; with `lingering` something that it started goes on."""
        self._running = False
        if not lingering:
            self._files.guard.rest()
            self.suspect = False

    def changes(self) -> list[Change]:
        """What nobody has judged yet."""
        return self._files.guard.changes()

    def agree(self, change: Change) -> None:
        """The person wants it."""
        self._files.guard.accept(change.path)
        self._audit.log("tattoo", f"{change.path} was changed while something ran, and the user agreed")

    def leave(self, change: Change) -> None:
        """Nobody has decided: the file stays, and what it said before counts; the next session asks again."""
        self._files.guard.pass_by(change)
        self._audit.log("held", f"tattoo: {change.path} was changed while something ran; its old rules count")

    def lay_aside(self, path: Path) -> None:
        """What `path` holds unjudged is about to be written over: keep it. Raises StoreError."""
        for change in self._files.guard.pending():
            if change.path == path and change.after.data:
                kept = self._files.shelve(path, change.after.data, self._now())
                self._audit.log("archive", f"tattoo: what stood there without your yes lies in {kept.name}")

    async def put_back(self, change: Change) -> Path | None:
        """Make the file what it was; where the refused text lies, None where there is none.

        Raises:
            StoreError: the change stands on disk, and does not count in this session.
        """
        kept = await asyncio.to_thread(self._undo, change)
        if kept is not None and kept.is_relative_to(self._files.folder):
            await self._commits.keep((f"archive/{kept.name}",), "Archive a refused change of tattoo")
        return kept

    def close(self) -> None:
        """What an interrupted tool that names the files changed is put back; the next session asks about the rest."""
        for change in self.changes() if self._running and self.suspect else ():
            with suppress(StoreError):
                self._undo(change)
        self._files.guard.rest()

    def _undo(self, change: Change) -> Path | None:
        self._audit.log("refusal", f"tattoo: {change.path} was changed while something ran, and nobody agreed")
        self._files.guard.pass_by(change)
        data = change.after.data
        kept = self._files.shelve(change.path, data, self._now()) if data else None
        self._files.put_back(change)
        return kept
