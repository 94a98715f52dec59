"""`SavedWork`: stands around the tools that change something, and takes back, turn by turn, what they did."""

from __future__ import annotations

import asyncio
import os
import secrets
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.tools import Action, Command
from codeagent.safety.checkpoints.back import Back, finish
from codeagent.safety.checkpoints.states import Changed, State, from_json, read, to_json
from codeagent.safety.checkpoints.store import Store
from codeagent.safety.checkpoints.timeline import Log, Past, Record, record_of
from codeagent.safety.checkpoints.tree import TooLarge, Tree
from codeagent.safety.threats import Threat, threats

FIRST_SECONDS = 3.0
"""What a command may have to wait for its checkpoint; what is not kept by then is taken up with the next."""
AFTER_SECONDS = 1.0
LONGEST = 30.0
"""Seconds for saving what a command is about to destroy."""
THREATENED = 10
"""So many times larger may a file be that is about to be destroyed."""
_SCANNED = b"+"
"""Begins what is pending of a command: the states before it are those that the tree has seen."""


@dataclass(slots=True)
class _Run:
    """A call that is under way: the states before it, as far as it has touched anything."""

    id: str
    before: dict[str, State] = field(default_factory=dict)
    exact: tuple[str, ...] = ()
    """Paths that are looked at whatever the tree sees."""
    scanned: bool = False


class SavedWork:
    """Implements `ports.Checkpoints`.

    What goes wrong here is told once and stops no tool.
    """

    def __init__(
        self,
        store: Store,
        tree: Tree,
        log: Log,
        tell: Callable[[Notice], object],
        *,
        session: str,
        looks: Callable[[Action], bool],
        limit: int,
    ) -> None:
        """`looks` says whether a command only looks; `limit`: bytes of a file that is kept."""
        self._store = store
        self._tree = tree
        self._past = Past(log, store)
        self._tell = tell
        self._session = session
        self._looks = looks
        self._limit = limit
        self._lock = threading.Lock()
        self._reading = asyncio.Lock()
        self._running: dict[str, _Run] = {}
        self._blind = False
        """The tree is too large to look at."""
        self._told: set[str] = set()
        self.back = Back(store, self._past, self._ready, self._lock, limit)

    # ---- around a call ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def around(self, action: Action) -> AsyncIterator[None]:
        """What is done within can be taken back afterwards."""
        changing = action.kind == "edit" or (isinstance(action.preview, Command) and not self._looks(action))
        run = await self._begun(action) if changing else None
        try:
            yield
        finally:
            if run is not None:
                await finish(self._ended(run))

    async def _begun(self, action: Action) -> _Run | None:
        run = _Run(secrets.token_hex(8))
        try:
            await self._ready()
            await asyncio.to_thread(self._begin, run, action)
        except StoreError as error:
            self._say("No checkpoint was made, the next change cannot be taken back: {error}", error=str(error))
            return None
        return run

    def _begin(self, run: _Run, action: Action) -> None:
        with self._lock:
            if action.kind == "edit":
                self._begin_edit(run, [part.subject for part in action.parts])
            else:
                self._begin_command(run, threats(action))
            self._running[run.id] = run

    async def _ended(self, run: _Run) -> None:
        try:
            record = await asyncio.to_thread(self._end, run)
            if record is not None:
                self._past.add(record)
                self._store.end([run.id])
        except StoreError as error:
            self._say("What the last tool changed cannot be taken back: {error}", error=str(error))
        finally:
            self._running.pop(run.id, None)

    def _begin_edit(self, run: _Run, paths: Iterable[str]) -> None:
        with self._store:
            for path in paths:
                for each in (path, *_missing_above(path)):
                    run.before[each] = read(each, self._store.put, self._limit)
            run.exact = tuple(run.before)
            self._store.begin(run.id, self._session, to_json(Changed(*pair, pair[1]) for pair in run.before.items()))

    def _begin_command(self, run: _Run, threats: Sequence[Threat]) -> None:
        if not self._blind:
            try:
                self._look()
                run.scanned = True
            except TooLarge:
                self._too_large()
        if run.scanned:
            self._tree.keep(LONGEST, [path for threat in threats for path in threat.paths])
            self._tree.keep(FIRST_SECONDS)
            if left := self._tree.lacking:
                self._say("The first checkpoints do not hold all files yet: {left:,} are missing.", left=left)
        with self._store:
            for path in (path for threat in threats if threat.reach == "named" for path in threat.paths):
                self._begin_threatened(run, path)
            run.exact = tuple(run.before)
            self._tree.flush()
            changes = to_json(Changed(*pair, pair[1]) for pair in run.before.items())
            self._store.begin(run.id, self._session, _SCANNED + changes if run.scanned else changes)

    def _begin_threatened(self, run: _Run, path: str) -> None:
        """What the tree does not see, or thinks too large, of what is about to be destroyed."""
        for each, size in _walked(path):
            if not run.scanned or size > self._limit or not self._tree.covers(each):
                run.before[each] = read(each, self._store.put, self._limit * THREATENED)

    def _look(self) -> None:
        """What is new belongs to whatever runs."""
        for path, state in self._tree.look().items():
            for run in self._running.values():
                if run.scanned:
                    run.before.setdefault(path, state)

    def _end(self, run: _Run) -> Record | None:
        with self._lock:
            if run.scanned:
                self._seen_since(run)
            with self._store:
                self._tree.flush()
                record = self._recorded(run, run.id)
                if record is None:
                    self._store.end([run.id])
            self._store.prune()
            return record

    def _seen_since(self, run: _Run) -> None:
        try:
            self._look()
            self._tree.keep(AFTER_SECONDS, run.before)
        except TooLarge:
            self._too_large()

    def _too_large(self) -> None:
        self._blind = True
        self._say("This folder holds too many files: what commands change in it cannot be taken back.")

    def _changes(self, run: _Run) -> list[Changed]:
        changes = []
        for path, before in run.before.items():
            seen = run.scanned and path not in run.exact
            after = self._tree.state(path) if seen else read(path, self._store.put, self._limit)
            if not before.same(after):
                changes.append(Changed(path, before, after))
        return sorted(changes, key=lambda one: one.path)

    def _recorded(self, run: _Run, call: str) -> Record | None:
        changes = self._changes(run)
        return record_of(self._store, "change", changes, call=call) if changes else None

    async def _ready(self) -> None:
        """The past of the session is known; what an earlier process began and did not come to record, now it is."""
        async with self._reading:
            if self._past.fresh:
                left, record = await asyncio.to_thread(self._recover)
                if record is not None:
                    self._past.add(record)
                self._store.end(left)

    def _recover(self) -> tuple[list[str], Record | None]:
        with self._lock:
            self._past.load()
            left = [(id, data) for id, data in self._store.pending(self._session) if id not in self._past.calls]
            before: dict[str, State] = {}
            for _, data in left:
                for one in from_json(data.removeprefix(_SCANNED)):
                    before.setdefault(one.path, one.before)
            run = _Run("", dict(before), tuple(before), any(data.startswith(_SCANNED) for _, data in left))
            if run.scanned:
                self._running[run.id] = run
                self._seen_since(run)
                del self._running[run.id]
            ids = [id for id, _ in left]
            with self._store:
                if run.scanned:
                    self._tree.flush()
                return ids, self._recorded(run, ids[0]) if ids else None

    def _say(self, message: str, **arguments: object) -> None:
        if message not in self._told:
            self._told.add(message)
            self._tell(Notice(message, arguments, "warning"))

    def close(self) -> None:
        self._store.close()


def _missing_above(path: str) -> list[str]:
    found = []
    for above in Path(path).parents:
        if above.exists():
            break
        found.append(str(above))
    return found


def _walked(path: str, most: int = 20_000) -> Iterator[tuple[str, int]]:
    """`path` and what lies below it, with sizes."""
    waiting = [path]
    while waiting and most:
        each = waiting.pop()
        most -= 1
        try:
            looks = os.lstat(each)
            if stat.S_ISDIR(looks.st_mode):
                waiting += sorted(entry.path for entry in os.scandir(each))
        except OSError:
            continue
        yield each, 0 if stat.S_ISDIR(looks.st_mode) else looks.st_size
