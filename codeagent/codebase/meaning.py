"""Finding by meaning: the vectors of a project's chunks, made where there is an embedder, and asked."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from codeagent.codebase import vectors
from codeagent.codebase.store import CodeStore
from codeagent.core.code import Advance, unheeded
from codeagent.core.errors import CodeAgentError
from codeagent.core.ports import Embedder

_BATCH = 32
"""Chunks that are embedded at once."""
_PORTION = 16 * _BATCH
"""Chunks whose text is held at once."""
_QUICK = 2 * _BATCH
"""So few new chunks are embedded by the way; more of them wait for a build."""

Roots = Mapping[int, Path]
"""By their ids."""


class Meaning:
    """Without an embedder nothing is found, and nothing is done."""

    def __init__(self, store: CodeStore, lines: Callable[[Path], Sequence[str]], ended: Callable[[], bool]) -> None:
        """`lines` reads a file; `ended` says that what is going on is to stop."""
        self._store = store
        self._lines = lines
        self._ended = ended
        self._embedder: Embedder | None = None

    def use(self, embedder: Embedder | None) -> None:
        """Vectors of this one from now on; it is closed with the index."""
        self._embedder = embedder if vectors.available() else None

    async def aclose(self) -> None:
        if self._embedder is not None:
            await self._embedder.aclose()

    async def asked(self, query: str, roots: Roots, seconds: float) -> Sequence[float] | None:
        """The vector of a query where there are chunks to compare it with, and it comes in time."""
        if self._embedder is None or not await asyncio.to_thread(self.count, roots):
            return None
        text = query[: vectors.LONGEST].encode("utf-8", "replace").decode()
        try:
            async with asyncio.timeout(seconds):
                return (await self._embedder.embed([text], "query"))[0]
        except (TimeoutError, CodeAgentError):
            return None

    def near(self, db: sqlite3.Connection, roots: Roots, asked: Sequence[float] | None) -> dict[int, float]:
        """Nearness of chunks to a vector that `asked` gave, by chunk id."""
        if asked is None or self._embedder is None:
            return {}
        return vectors.nearest(db, self._embedder.name, list(roots), asked)

    def count(self, roots: Roots) -> int:
        """How many chunks have a vector. Raises StoreError."""
        if self._embedder is None:
            return 0
        with self._store.open() as db:
            return vectors.count(db, self._embedder.name, list(roots))

    async def follow(self, roots: Roots) -> None:
        """Give new chunks their vectors, when they are few and others have some. Raises StoreError."""
        if self._embedder is None:
            return
        if await asyncio.to_thread(self.count, roots) > 0:
            missing = await asyncio.to_thread(self._missing, roots, _QUICK + 1)
            if len(missing) <= _QUICK:
                await self._make(self._embedder, missing)

    async def build(self, roots: Roots, advance: Advance) -> None:
        """Give all chunks their vectors, as far as the embedder gives them. Raises StoreError."""
        if self._embedder is None:
            return
        total, done = await asyncio.to_thread(self._lacking, roots), 0
        while portion := await asyncio.to_thread(self._missing, roots, _PORTION):
            if not await self._make(self._embedder, portion, advance, done, total):
                return
            done += len(portion)
        await asyncio.to_thread(self._forget)

    async def _make(
        self,
        embedder: Embedder,
        missing: Sequence[tuple[bytes, str]],
        advance: Advance = unheeded,
        done: int = 0,
        total: int = 0,
    ) -> bool:
        """Whether all of them have their vectors now; `done` of the `total` had them before."""
        for at in range(0, len(missing), _BATCH):
            batch = missing[at : at + _BATCH]
            if self._ended():
                return False
            try:
                made = await embedder.embed([text for _, text in batch], "passage")
            except CodeAgentError:
                return False  # found by words alone, as far as it came
            await asyncio.to_thread(self._put, embedder.name, [digest for digest, _ in batch], made)
            advance(done + at + len(batch), total, "vectors")
        return True

    # ---- in a thread -----------------------------------------------------------------------------------------------

    def _missing(self, roots: Roots, most: int) -> list[tuple[bytes, str]]:
        """(digest, text) of chunks without a vector."""
        if self._embedder is None:
            return []
        with self._store.open() as db:
            rows = vectors.missing(db, self._embedder.name, list(roots), most)
        texts: dict[tuple[int, str], Sequence[str]] = {}
        found = []
        for digest, root, path, first, last, symbol in sorted(rows, key=lambda row: row[1:4]):
            if (root, path) not in texts:
                texts = {(root, path): self._lines(roots[root] / path)}
            words = " ".join(texts[root, path][first - 1 : last]).split()
            found.append((digest, " ".join([path, symbol, *words])[: vectors.LONGEST]))
        return found

    def _lacking(self, roots: Roots) -> int:
        if self._embedder is None:
            return 0
        with self._store.open() as db:
            return vectors.lacking(db, self._embedder.name, list(roots))

    def _put(self, model: str, digests: Sequence[bytes], made: Sequence[Sequence[float]]) -> None:
        with self._store.open() as db:
            vectors.put(db, model, digests, made)

    def _forget(self) -> None:
        with self._store.open() as db:
            vectors.forget(db)
