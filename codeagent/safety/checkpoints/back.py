"""Going back and forth: what taking back the changes of turns would do, and doing it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from codeagent.core.tools import Patch
from codeagent.safety.checkpoints import restore
from codeagent.safety.checkpoints.restore import Refused
from codeagent.safety.checkpoints.states import Changed, joined, read
from codeagent.safety.checkpoints.store import Store
from codeagent.safety.checkpoints.timeline import Past, Record, record_of

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Plan:
    """What going back would do: `changes` from the states now to those before; `foreign` are the paths among them that
    changed since by another hand."""

    kind: str
    turns: tuple[int, ...]
    changes: tuple[Changed, ...]
    foreign: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back, and what stays as it is."""

    turns: tuple[int, ...]
    done: tuple[Changed, ...]
    refused: tuple[Refused, ...] = ()
    left: tuple[str, ...] = ()
    """Paths that were changed since by another hand, and were left alone."""


class Back:
    """Takes back, turn by turn, what was done, and does it again."""

    def __init__(
        self, store: Store, past: Past, ready: Callable[[], Awaitable[None]], lock: threading.Lock, limit: int
    ) -> None:
        """`ready` makes sure that the past is known; `lock` keeps others off the files that are put back."""
        self._store = store
        self._past = past
        self._ready = ready
        self._lock = lock
        self._limit = limit

    async def turns(self) -> dict[int, int]:
        """Turns whose changes can be taken back -> how many files each changed. Raises StoreError."""
        await self._ready()
        return {turn: len(joined(parts)[0]) for turn, parts in self._past.done()}

    async def undoing(self, since: int | None = None) -> Plan | None:
        """What taking back the newest turn that changed files would do, or all from the turn `since` on; None when
        there is nothing. Raises StoreError."""
        await self._ready()
        groups = list(self._past.done())
        groups = groups[-1:] if since is None else [group for group in groups if group[0] >= since]
        return await asyncio.to_thread(self._plan, "undo", groups) if groups else None

    async def redoing(self) -> Plan | None:
        """What doing again what was taken back last would do. Raises StoreError."""
        await self._ready()
        group = self._past.undone()
        return await asyncio.to_thread(self._plan, "redo", [group]) if group else None

    def _plan(self, kind: str, groups: Sequence[tuple[int, Sequence[Sequence[Changed]]]]) -> Plan:
        whole, foreign = joined([part for _, parts in groups for part in parts])
        changes, strange = [], set()
        with self._store:
            for one in whole:
                now = read(one.path, self._store.put, self._limit)
                if now.same(one.before):
                    continue
                changes.append(Changed(one.path, now, one.before))
                if one.path in foreign or not now.same(one.after):
                    strange.add(one.path)
        return Plan(kind, tuple(turn for turn, _ in groups), tuple(changes), frozenset(strange))

    async def carry_out(self, plan: Plan, *, over: bool) -> Restored:
        """Do what `plan` says; with `over` also to what changed since by another hand. What it replaces is kept, so
        that it can be taken back in turn.

        Raises:
            StoreError: nothing was changed, or what was changed could not be recorded.
        """
        return await finish(self._carried_out(plan, over))

    async def _carried_out(self, plan: Plan, over: bool) -> Restored:
        restored, record = await asyncio.to_thread(self._carry_out, plan, over)
        if restored.done or not plan.changes:
            self._past.add(record)
        return restored

    def _carry_out(self, plan: Plan, over: bool) -> tuple[Restored, Record]:
        left = () if over else tuple(sorted(plan.foreign))
        wanted, late = [], []
        with self._lock:
            with self._store:
                for one in (one for one in plan.changes if one.path not in left):
                    now = read(one.path, self._store.put, self._limit)
                    if now.same(one.before):
                        wanted.append(one)
                    else:
                        late.append(one.path)
            # What would be gone for good stays.
            kept = [one for one in wanted if one.before.kept]
            refused = [Refused(one.path, "it is too large to be kept") for one in wanted if not one.before.kept]
            done, failed = restore.put(kept, self._store.get)
            with self._store:
                record = record_of(self._store, plan.kind, done, plan.turns)
        return Restored(plan.turns, tuple(done), (*refused, *failed), (*left, *late)), record

    def preview(self, plan: Plan, shown: Callable[[str], str]) -> Patch:
        """The files that `plan` would change, as a diff. Blocks."""
        return restore.preview(plan.changes, self._store.get, shown)


async def finish(doing: Coroutine[Any, Any, _T]) -> _T:
    """Wait until it is done, come what may; an interruption counts afterwards."""
    task, interrupted = asyncio.ensure_future(doing), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            interrupted = True
    if interrupted:
        task.exception()
        raise asyncio.CancelledError
    return task.result()
