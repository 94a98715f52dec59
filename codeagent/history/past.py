"""`SessionPast`: the past as one session sees it, found by words or read by id (`core.past.Past`)."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from codeagent.core.entries import Entry
from codeagent.core.errors import StoreError, UsageError
from codeagent.core.messages import AssistantMessage
from codeagent.core.past import Near, PastHit, PastHits, PastPage, Scope
from codeagent.core.paths import Home
from codeagent.history.catalog import Catalog
from codeagent.history.index import HistoryIndex
from codeagent.history.lookup import look_up
from codeagent.history.pieces import text_of
from codeagent.history.search import Found, Piece, Place, nearest_first, search
from codeagent.text.terms import Words

_SECONDS = 20.0
_BEHIND = 5.0
"""So long at most the index is worked on behind a turn."""
_COMPARED = 12
"""Of what words find the best so many are ranked by meaning as well, where that can be told."""
_INNER = re.compile(r"task\d{1,9}", re.ASCII)
"""What subagents of the session did: a name, or one in front of an id."""
_ALL = f"m1-m{10**9}"


class Patience:
    """Is used up when its time is over, or when nobody waits any more."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._lost = False

    def lose(self) -> None:
        self._lost = True

    def __call__(self) -> bool:
        return self._lost or (self._end is not None and time.monotonic() >= self._end)


class SessionPast:
    """A session of a project, and those beside it.

    As an observer of the history it lets the index follow each turn that ends, in a thread.
    """

    def __init__(
        self,
        home: Home,
        project_id: str,
        words: Words,
        mask: Callable[[str], str],
        path: Path | None = None,
        *,
        entries: Callable[[], Sequence[Entry]] = lambda: (),
        seconds: float | None = _SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """
        Args:
            words: cuts text into lower-cased words.
            mask: puts marks in the place of secrets.
            path: file of the session; None where there is none at hand.
            entries: those of the next request.
            seconds: so long a search takes in what the index has not got yet; None: until it has all.
        """
        self._home = home
        self._project_id = project_id
        self._path = path
        self._words = words
        self._mask = mask
        self._entries = entries
        self._seconds = seconds
        self._clock = clock
        self.near: Near | None = None
        """Set while there are embeddings to be had."""
        self._index = HistoryIndex(home.history, mask)
        self._following: asyncio.Task[None] | None = None
        self._patience = Patience(None)
        self._closed = False

    # ---- core.past.Past --------------------------------------------------------------------------------------------

    async def search(
        self, query: str, scope: Scope = "session", *, limit: int = 10, offset: int = 0, held: bool = False
    ) -> PastHits:
        texts = {} if held else {entry.id: text_of(entry) for entry in self._entries()}
        patience = Patience(self._seconds)
        try:
            found = await asyncio.to_thread(self._search, query, scope, patience)
        finally:
            patience.lose()
        pieces = await self._ranked(found, [piece for piece in found.pieces if not self._holds(texts, piece)])
        now = self._clock()
        return PastHits(
            tuple(self._hit(found, piece, now) for piece in pieces[offset : offset + limit]),
            len(pieces),
            len(found.pieces) - len(pieces),
            found.behind,
        )

    async def _ranked(self, found: Found, pieces: list[Piece]) -> list[Piece]:
        first = pieces[:_COMPARED]
        near = await self.near(found.query, [found.snippet(piece) for piece in first]) if self.near and first else None
        return pieces if near is None else [*nearest_first(first, near), *pieces[_COMPARED:]]

    async def read(self, id: str, *, offset: int = 0, limit: int = 8_000) -> PastPage:
        text = await asyncio.to_thread(self._read, id.strip())
        return PastPage(text[offset : offset + limit], offset, len(text))

    # ---- core.ports.Observer ---------------------------------------------------------------------------------------

    def appended(self, entry: Entry) -> None:
        message = entry.message
        ends_turn = isinstance(message, AssistantMessage) and not message.calls
        if ends_turn and not self._closed and (self._following is None or self._following.done()):
            self._following = asyncio.create_task(self._follow())

    def cleared(self) -> None:
        """Nothing leaves the index."""

    def taken_back(self, ids: Collection[str]) -> None:
        """Nothing leaves the index."""

    async def aclose(self) -> None:
        """Let the index go: what it has not taken in yet waits for the next search."""
        self._closed = True
        self._patience.lose()
        if self._following is not None:
            await asyncio.wait({self._following})

    async def _follow(self) -> None:
        self._patience = Patience(_BEHIND)
        try:
            await asyncio.to_thread(self._index.update, self._files("session"), self._patience)
        except StoreError:  # told to whoever searches
            return
        finally:
            self._patience.lose()

    # ---- in a thread -----------------------------------------------------------------------------------------------

    def _search(self, query: str, scope: Scope, patience: Patience) -> Found:
        place = Place(self._path if scope == "session" else None, self._project_id if scope == "project" else None)
        return search(self._index, self._words, query, place, self._files(scope), patience)

    def _files(self, scope: Scope) -> list[Path]:
        """The session's own file first, then the newest."""
        pattern = {"session": "", "project": f"{self._project_id}/*.jsonl", "all": "*/*.jsonl"}[scope]
        others: list[tuple[float, Path]] = []
        for path in self._home.history.glob(pattern) if pattern else ():
            try:
                others.append((path.stat().st_mtime, path))
            except OSError:  # removed this moment
                continue
        newest = [path for _, path in sorted(others, reverse=True) if path != self._path]
        if self._path is None or not self._path.exists():
            return newest
        own = sorted(self._path.with_suffix("").glob("*.jsonl")) if scope == "session" else ()
        return [self._path, *own, *newest]

    def _read(self, id: str) -> str:
        session, _, name = id.rpartition("/")
        path = self._inner(session or name)
        if path is not None:
            name = name if session else _ALL
        else:
            path = Catalog(self._home).find(self._project_id, session).path if session else self._path
        parts = look_up(path, name) if path is not None and path.exists() else ()
        text = "\n\n".join(map(self._mask, parts))
        if not text:
            raise UsageError("There is nothing of the id {id}.", id=id)
        return text

    def _inner(self, name: str) -> Path | None:
        """The file of a subagent of this session."""
        if self._path is None or not _INNER.fullmatch(name):
            return None
        path = self._path.with_suffix("") / f"{name}.jsonl"
        return path if path.exists() else None

    def _holds(self, texts: dict[str, str], piece: Piece) -> bool:
        return piece.path == self._path and piece.text in texts.get(f"m{piece.message}", "")

    def _hit(self, found: Found, piece: Piece, now: float) -> PastHit:
        message, session = f"m{piece.message}", piece.path.stem
        return PastHit(
            id=message if piece.path == self._path else f"{session}/{message}",
            session=session,
            message=message,
            turn=piece.turn,
            role=piece.role,
            at=piece.at,
            age=max(0.0, now - piece.at),
            snippet=found.snippet(piece),
        )
