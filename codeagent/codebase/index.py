"""`ProjectCode`: the code of one project's roots, as tools and commands ask for it (`core.code.CodeIndex`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from codeagent.codebase import symbols, vectors
from codeagent.codebase.build import Builder, Decode, Outcome, Progress, root_id
from codeagent.codebase.search import Question, Spot, find, passage
from codeagent.codebase.store import CodeStore
from codeagent.core.code import Advance, Built, CodeHit, CodeHits, CodeStatus
from codeagent.core.errors import CodeAgentError
from codeagent.core.ports import Embedder
from codeagent.text.terms import Words

Listing = Callable[[Path], Awaitable[Sequence[str]]]
"""The files below a root, relative to it, that no ignore file names."""
_PATIENCE = 8.0
"""Seconds that a search waits for an index that is behind; then it answers with what is there."""
_BATCH = 32
"""Chunks that are embedded at once."""
_QUICK = 64
"""So few new chunks are embedded by the way; more of them wait for `build`."""


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
        embedder: Embedder | None = None,
        *,
        patience: float = _PATIENCE,
    ) -> None:
        """
        Args:
            path: of the database.
            roots: real paths, the project's top first.
            words: cuts text into lower-cased words.
            estimate: tokens of a text.
            embedder: gives vectors; closed with the index.
            patience: seconds that a search waits for an index that is behind.
        """
        self._store = CodeStore(path)
        self._roots = tuple(dict.fromkeys(roots))
        self._listing = listing
        self._decode = decode
        self._words = words
        self._estimate = estimate
        self._embedder: Embedder | None = None
        self.find_by_meaning(embedder)
        self._patience = patience
        self._builder = Builder(self._store, decode)
        self._working: asyncio.Task[Outcome] | None = None
        self._advance: Advance | None = None
        self._ended = threading.Event()

    # ---- core.code.CodeIndex ---------------------------------------------------------------------------------------

    async def search(self, query: str, *, path: str = "", limit: int = 10, offset: int = 0) -> CodeHits:
        left = await self._catch_up(self._patience)
        question = await asyncio.to_thread(Question.of, query, self._words)
        asked = await self._embedded(query)
        hits, total = await asyncio.to_thread(self._find, question, path, asked, limit, offset)
        return CodeHits(hits, total, left)

    async def build(self, advance: Advance = lambda done, total: None) -> Built:
        self._advance = advance
        try:
            outcome = await asyncio.shield(self._work())
            await self._embed(advance)
        finally:
            self._advance = None
        return Built(outcome.added, outcome.removed, outcome.left, outcome.by_other)

    async def status(self) -> CodeStatus:
        listed = [(root, await self._listing(root)) for root in self._roots]
        return await asyncio.to_thread(self._status, listed)

    async def map(self, tokens: int) -> str:
        await self._catch_up(self._patience)
        return await asyncio.to_thread(self._map, tokens)

    def find_by_meaning(self, embedder: Embedder | None) -> None:
        """Use these vectors from now on."""
        if vectors.available():
            self._embedder = embedder

    async def aclose(self) -> None:
        """End what is going on behind: the next process goes on with it."""
        self._ended.set()
        if self._working is not None:
            await asyncio.wait({self._working})
        if self._embedder is not None:
            await self._embedder.aclose()

    # ---- building --------------------------------------------------------------------------------------------------

    async def _catch_up(self, seconds: float) -> int:
        """Wait a while until the index is like the files; how many files it is behind."""
        working = self._work()
        await asyncio.wait({working}, timeout=seconds)
        if not working.done():
            return max(1, self._left)
        outcome = working.result()
        await self._embed(None)
        return outcome.left

    def _work(self) -> asyncio.Task[Outcome]:
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._update())
        return self._working

    async def _update(self) -> Outcome:
        self._left = 0
        done = Outcome(0, 0, 0)
        for root in self._roots:
            paths = await self._listing(root)
            one = await asyncio.to_thread(self._builder.update, root, paths, self._ended.is_set, self._progress)
            done = Outcome(
                done.added + one.added, done.removed + one.removed, done.left + one.left, done.by_other or one.by_other
            )
        return done

    _left = 0

    def _progress(self, progress: Progress) -> None:
        self._left = progress.total - progress.done
        if (advance := self._advance) is not None:
            advance(progress.done, progress.total)

    # ---- meaning ---------------------------------------------------------------------------------------------------

    async def _embedded(self, query: str) -> Sequence[float] | None:
        """The vector of a query where there are chunks to compare it with."""
        if self._embedder is None or not await asyncio.to_thread(self._vectors):
            return None
        try:
            async with asyncio.timeout(self._patience):
                return (await self._embedder.embed([query[: vectors.LONGEST]], "query"))[0]
        except (TimeoutError, CodeAgentError):
            return None

    async def _embed(self, advance: Advance | None) -> None:
        """Give the chunks that have none their vectors: all of them for `advance`, else only when they are few."""
        if self._embedder is None or (advance is None and not await asyncio.to_thread(self._vectors)):
            return
        missing = await asyncio.to_thread(self._missing, 1_000_000 if advance else _QUICK + 1)
        if advance is None and len(missing) > _QUICK:
            return
        for at in range(0, len(missing), _BATCH):
            if self._ended.is_set():
                return
            batch = missing[at : at + _BATCH]
            try:
                made = await self._embedder.embed([text for _, text in batch], "passage")
            except CodeAgentError:
                return  # found by words alone, as far as it came
            await asyncio.to_thread(self._put, [digest for digest, _ in batch], made)
            if advance is not None:
                advance(min(at + _BATCH, len(missing)), len(missing))

    def _missing(self, most: int) -> list[tuple[bytes, str]]:
        if self._embedder is None:
            return []
        with self._store.open() as db:
            ids = {root_id(db, root): root for root in self._roots}
            rows = vectors.missing(db, self._embedder.name, list(ids), most)
        texts: dict[tuple[int, str], list[str]] = {}
        found = []
        for digest, root, path, first, last in sorted(rows, key=lambda row: row[1:4]):
            if (root, path) not in texts:
                texts = {(root, path): self._lines(ids[root] / path)}
            text = "\n".join(texts[root, path][first - 1 : last])[: vectors.LONGEST]
            found.append((digest, f"{path}\n{text}"))
        return found

    def _put(self, digests: Sequence[bytes], made: Sequence[Sequence[float]]) -> None:
        if self._embedder is not None:
            with self._store.open() as db:
                vectors.put(db, self._embedder.name, digests, made)
                vectors.forget(db)

    def _vectors(self) -> int:
        if self._embedder is None:
            return 0
        with self._store.open() as db:
            return vectors.count(db, self._embedder.name, [root_id(db, root) for root in self._roots])

    # ---- in a thread -----------------------------------------------------------------------------------------------

    def _find(
        self, question: Question, path: str, asked: Sequence[float] | None, limit: int, offset: int
    ) -> tuple[tuple[CodeHit, ...], int]:
        """The hits from `offset` on; files that changed this moment are read anew first."""
        roots, within = self._within(path)
        for last in (False, True):
            with self._store.open() as db:
                ids = {root_id(db, root): root for root in roots}
                near = None
                if asked is not None and self._embedder is not None:
                    near = vectors.nearest(db, self._embedder.name, list(ids), asked)
                spots = find(db, list(ids), question, within, near)
            shown = spots[offset : offset + limit]
            stale = {(ids[spot.root], spot.path) for spot in shown}
            if last or sum(self._builder.refresh(*file) for file in stale) == 0:  # all of them, not up to the first
                break
        return tuple(self._hit(ids[spot.root], spot, question) for spot in shown), len(spots)

    def _within(self, path: str) -> tuple[tuple[Path, ...], str]:
        """(roots that are searched, path relative to them) for a path relative to the first root, or absolute."""
        if path in ("", "."):
            return self._roots, ""
        whole = (self._roots[0] / path).resolve()
        for root in self._roots:
            if whole == root:
                return (root,), ""
            if whole.is_relative_to(root):
                return (root,), whole.relative_to(root).as_posix()
        return self._roots[:1], path

    def _hit(self, root: Path, spot: Spot, question: Question) -> CodeHit:
        line, text = passage(self._lines(root / spot.path), spot.start, spot.end, question.terms)
        path = spot.path if root == self._roots[0] else (root / spot.path).as_posix()
        return CodeHit(path, spot.start, spot.end, spot.symbol, spot.kind, line, text)

    def _lines(self, path: Path) -> list[str]:
        try:
            return (self._decode(path.read_bytes()) or "").splitlines()
        except OSError:  # vanished while it was looked for
            return []

    def _map(self, tokens: int) -> str:
        with self._store.open() as db:
            found = symbols.ranked(db, root_id(db, self._roots[0]))
        return symbols.render(found, tokens, self._estimate)

    def _status(self, listed: Sequence[tuple[Path, Sequence[str]]]) -> CodeStatus:
        with self._store.open() as db:
            ids = [root_id(db, root) for root in self._roots]
            marks = ",".join(map(str, ids))
            of = f"FROM chunks JOIN files ON files.id = chunks.file WHERE files.root IN ({marks})"
            files, left_out = 0, {}
            for reason, count in db.execute(
                f"SELECT left_out, count(*) FROM files WHERE root IN ({marks}) GROUP BY left_out ORDER BY left_out"
            ):
                files += count
                left_out[reason] = count
            chunks, named = db.execute(f"SELECT count(*), coalesce(sum(symbol != ''), 0) {of}").fetchone()
        left = sum(len(self._builder.stale(root, paths)) for root, paths in listed)
        return CodeStatus(
            path=str(self._store.path),
            size=self._store.path.stat().st_size,
            files=files,
            chunks=chunks,
            symbols=named,
            vectors=self._vectors(),
            left=left,
            left_out=tuple((reason, count) for reason, count in left_out.items() if reason),
        )
