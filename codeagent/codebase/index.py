"""`ProjectCode`: the code of one project's roots, as tools and commands ask for it (`core.code.CodeIndex`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from codeagent.codebase import symbols
from codeagent.codebase.build import Builder, Decode, Outcome, Progress
from codeagent.codebase.chunks import lines_of
from codeagent.codebase.disk import LARGEST
from codeagent.codebase.meaning import Meaning, Roots
from codeagent.codebase.roots import others, root_id
from codeagent.codebase.search import Question, Spot, find, passage
from codeagent.codebase.store import CodeStore
from codeagent.core.code import Advance, Built, CodeHit, CodeHits, CodeStatus, unheeded
from codeagent.core.errors import StoreError
from codeagent.core.ports import Embedder
from codeagent.text.terms import Words

Listing = Callable[[Path], Awaitable[Sequence[str]]]
"""The files below a root, relative to it, that no ignore file names."""
_PATIENCE = 8.0
"""Seconds that a search waits for an index that is behind; then it answers with what is there."""


class ProjectCode:
    """Opens nothing before it is asked; what it began goes on behind the answers and ends with `aclose`."""

    def __init__(
        self,
        path: Path,
        roots: Sequence[Path],
        listing: Listing,
        decode: Decode,
        words: Words,
        estimate: Callable[[str], int],
        *,
        overview: int = 0,
        patience: float = _PATIENCE,
    ) -> None:
        """
        Args:
            path: of the database.
            roots: real paths, the project's top first.
            words: cuts text into lower-cased words.
            estimate: tokens of a text.
            overview: tokens of the symbol map that a prompt begins with.
            patience: seconds that a search waits for an index that is behind.
        """
        self._store = CodeStore(path)
        self._roots = tuple(dict.fromkeys(roots))
        self._listing = listing
        self._decode = decode
        self._words = words
        self._estimate = estimate
        self._patience = patience
        self._builder = Builder(self._store, decode)
        self._working: asyncio.Task[Outcome] | None = None
        self._left = 0
        self._advance: Advance = unheeded
        self._ended = threading.Event()
        self._meaning = Meaning(self._store, self._lines, self._ended.is_set)
        self._wanted = overview
        self.overview = ""

    # ---- core.code.CodeIndex ---------------------------------------------------------------------------------------

    async def search(self, query: str, *, path: str = "", limit: int = 10, offset: int = 0) -> CodeHits:
        left = await self._catch_up()
        question = await asyncio.to_thread(Question.of, query, self._words)
        asked = await self._meaning.asked(query, await asyncio.to_thread(self._ids), self._patience)
        hits, total = await asyncio.to_thread(self._find, question, path, asked, limit, offset)
        return CodeHits(hits, total, left)

    async def build(self, advance: Advance = unheeded) -> Built:
        self._advance = advance
        try:
            outcome = await asyncio.shield(self._work())
            await self._meaning.build(await asyncio.to_thread(self._ids), advance)
        finally:
            self._advance = unheeded
        return Built(outcome.added, outcome.removed, outcome.left, outcome.by_other)

    async def status(self) -> CodeStatus:
        listed = [(root, await self._listing(root)) for root in self._there()]
        return await asyncio.to_thread(self._status, listed)

    async def map(self, tokens: int) -> str:
        await self._catch_up()
        return await asyncio.to_thread(self._map, tokens)

    # ---- for a session ---------------------------------------------------------------------------------------------

    def find_by_meaning(self, embedder: Embedder | None) -> None:
        """Use these vectors from now on; the embedder is closed with the index."""
        self._meaning.use(embedder)

    async def prepare(self, most: int) -> None:
        """Where a prompt begins with the symbol map, make `overview` of what the index holds already, in at most so
        many tokens; what it lacks is taken in behind, for the next one."""
        if tokens := min(self._wanted, most):
            try:
                self.overview = await asyncio.to_thread(self._map, tokens)
            except StoreError:
                return  # a session does without
            self._work()

    async def aclose(self) -> None:
        """End what is going on behind: the next process goes on with it."""
        self._ended.set()
        if self._working is not None:
            await asyncio.wait({self._working})
        await self._meaning.aclose()

    # ---- building --------------------------------------------------------------------------------------------------

    async def _catch_up(self) -> int:
        """Wait a while until the index is like the files; how many files it is behind."""
        working = self._work()
        await asyncio.wait({working}, timeout=self._patience)
        if not working.done():
            return max(1, self._left)
        outcome = working.result()
        await self._meaning.follow(await asyncio.to_thread(self._ids))
        return outcome.left

    def _work(self) -> asyncio.Task[Outcome]:
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._update())
            self._working.add_done_callback(_looked_at)
        return self._working

    async def _update(self) -> Outcome:
        self._left = 0
        done = Outcome(0, 0, 0)
        for root in self._there():
            paths = await self._listing(root)
            one = await asyncio.to_thread(self._builder.update, root, paths, self._ended.is_set, self._progress)
            done = Outcome(
                done.added + one.added, done.removed + one.removed, done.left + one.left, done.by_other or one.by_other
            )
        return done

    def _progress(self, progress: Progress) -> None:
        self._left = progress.total - progress.done
        self._advance(progress.done, progress.total, "files")

    # ---- in a thread -----------------------------------------------------------------------------------------------

    def _there(self) -> tuple[Path, ...]:
        """The roots but those that are gone; the project's top is asked for always."""
        return tuple(root for root in self._roots if root == self._roots[0] or root.is_dir())

    def _ids(self) -> Roots:
        with self._store.open() as db:
            return {root_id(db, root): root for root in self._there()}

    def _find(
        self, question: Question, path: str, asked: Sequence[float] | None, limit: int, offset: int
    ) -> tuple[tuple[CodeHit, ...], int]:
        """The hits from `offset` on; files that changed this moment are read anew first."""
        roots = self._ids()
        places = {id: inside for id, root in roots.items() if (inside := self._inside(root, path)) is not None}
        if not places:
            return (), 0
        for last in (False, True):
            with self._store.open() as db:
                near = self._meaning.near(db, roots, asked)
                spots = list(_once(find(db, places, question, near), roots))
            shown = spots[offset : offset + limit]
            stale = {(roots[spot.root], spot.path) for spot in shown}
            if last or sum(self._builder.refresh(*file) for file in stale) == 0:  # all of them, not up to the first
                break
        return tuple(self._hit(roots[spot.root], spot, question) for spot in shown), len(spots)

    def _inside(self, root: Path, path: str) -> str | None:
        """`path`, absolute or relative to the first root, as seen from `root`; None where it lies elsewhere."""
        whole = (self._roots[0] / path).resolve() if path not in ("", ".") else root
        if root.is_relative_to(whole):
            return ""
        return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else None

    def _hit(self, root: Path, spot: Spot, question: Question) -> CodeHit:
        line, text = passage(self._lines(root / spot.path), spot.start, spot.end, question.terms)
        whole = root / spot.path
        top = self._roots[0]
        path = whole.relative_to(top) if whole.is_relative_to(top) else whole
        return CodeHit(path.as_posix(), spot.start, spot.end, spot.symbol, spot.kind, line, text)

    def _lines(self, path: Path) -> list[str]:
        try:
            with path.open("rb") as file:
                return lines_of(self._decode(file.read(LARGEST)) or "")
        except OSError:  # vanished while it was looked for
            return []

    def _map(self, tokens: int) -> str:
        top, found = self._roots[0], []
        with self._store.open() as db:
            for root in self._roots:
                where = "" if root == top else f"{root}/"
                found += [replace(one, path=f"{where}{one.path}") for one in symbols.ranked(db, root_id(db, root))]
        found.sort(key=lambda one: -one.worth)
        return symbols.render(found, tokens, self._estimate)

    def _status(self, listed: Sequence[tuple[Path, Sequence[str]]]) -> CodeStatus:
        roots = self._ids()
        marks = ",".join(map(str, roots))
        with self._store.open() as db:
            reasons = dict(
                db.execute(f"SELECT left_out, count(*) FROM files WHERE root IN ({marks}) GROUP BY left_out ORDER BY 1")
            )
            folders, elsewhere, gone = others(db, roots)
            chunks, named = db.execute(
                "SELECT count(*), coalesce(sum(symbol != ''), 0) FROM chunks JOIN files ON files.id = chunks.file"
                f" WHERE files.root IN ({marks})"
            ).fetchone()
        return CodeStatus(
            path=str(self._store.path),
            size=self._store.path.stat().st_size,
            files=sum(reasons.values()),
            chunks=chunks,
            symbols=named,
            vectors=self._meaning.count(roots),
            left=sum(self._builder.behind(root, paths) for root, paths in listed),
            left_out=tuple((reason, count) for reason, count in reasons.items() if reason),
            others=folders,
            others_files=elsewhere,
            others_gone=gone,
        )


def _looked_at(task: asyncio.Task[Outcome]) -> None:
    """Whoever waits for the work hears what went wrong; when nobody does, the next search meets it again."""
    if not task.cancelled():
        task.exception()


def _once(spots: Sequence[Spot], roots: Roots) -> Sequence[Spot]:
    """Each place once, where one root lies in another."""
    if len(roots) == 1:
        return spots
    found: dict[tuple[Path, int], Spot] = {}
    for spot in spots:
        found.setdefault((roots[spot.root] / spot.path, spot.start), spot)
    return list(found.values())
