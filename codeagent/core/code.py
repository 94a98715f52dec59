"""The code of the project as tools and commands may look it up: what an index finds, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CodeHit:
    """One part of a file that was found. Lines count from 1."""

    path: str
    """Relative to the project's top, or absolute where it lies in another root."""
    start: int
    end: int
    symbol: str
    """What is defined there ("Class.method"), "" outside definitions."""
    kind: str
    line: int
    """Of the first line of the passage."""
    passage: str
    """The lines that fit best."""


@dataclass(frozen=True, slots=True)
class CodeHits:
    hits: tuple[CodeHit, ...]
    """Best first, from the offset asked for."""
    total: int
    """How many there are to page through; the best few hundred at most."""
    left: int = 0
    """Files that the index has not taken in yet."""


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """What the index holds of the roots of this project."""

    path: str
    """Of the database."""
    size: int
    """Its bytes."""
    files: int
    chunks: int
    symbols: int
    vectors: int
    """Chunks that are found by meaning too; 0 where there are no embeddings."""
    left: int
    """Files that are new or changed on disk and not taken in yet."""
    left_out: tuple[tuple[str, int], ...]
    """Why files are not searched (binary, large, unreadable), and how many."""
    others: int
    """Other folders that the same database holds."""
    others_files: int
    others_gone: int
    """Those of them that are not there now: forgotten when that lasts."""


@dataclass(frozen=True, slots=True)
class Built:
    """What bringing the index up to date did, in files."""

    added: int
    """New or changed."""
    removed: int
    left: int
    by_other: bool
    """Another process is at it."""


Advance = Callable[[int, int, str], None]
"""Told (done, to do, of what: "files" or "vectors") while an index is built; from any thread."""


def unheeded(done: int, total: int, what: str) -> None:
    """Nobody watches."""


class CodeIndex(Protocol):
    """Code found by names, words and meaning; derived from the files, and brought up to date before it answers."""

    async def search(self, query: str, *, path: str = "", limit: int = 10, offset: int = 0) -> CodeHits:
        """The parts of files that fit `query`; `path` keeps to a file or folder.

        While a large tree is indexed for the first time, what is there so far is searched.

        Raises:
            StoreError: the index cannot be used.
        """
        ...

    async def build(self, advance: Advance = unheeded) -> Built:
        """Bring the index up to date, however long it takes. Raises StoreError."""
        ...

    async def status(self) -> CodeStatus:
        """Raises StoreError."""
        ...

    @property
    def overview(self) -> str:
        """The symbol map as the prompt holds it; "" where it is not wanted, or was not there yet."""
        ...

    async def map(self, tokens: int) -> str:
        """The definitions that are referred to most, by file, in at most so many tokens; "" while there are none.

        Raises:
            StoreError
        """
        ...
