"""A folder of code, and indexes of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.codebase.build import Builder, Outcome
from codeagent.codebase.index import ProjectCode
from codeagent.codebase.store import CodeStore
from codeagent.core.code import CodeHits
from codeagent.core.paths import Home
from codeagent.text.segment import Segmenter
from codeagent.toolkit import make_code
from codeagent.tools.encodings import decode

LONG_AGO = 1_600_000_000
"""A time stamp that nothing is changed within any more."""


@dataclass
class Ground:
    base: Path
    words: Path
    """A cache with the dictionary of words."""
    top: Path = field(init=False)
    home: Home = field(init=False)
    made: list[ProjectCode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base = self.base.resolve()
        self.top, self.home = self.base / "项目", Home(self.base / "home")
        self.top.mkdir()

    def write(self, path: str, text: str | bytes, *, when: float = LONG_AGO) -> Path:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (when, when))
        return file

    def code(self, *more: Path, top: Path | None = None, overview: int = 0) -> ProjectCode:
        """The index as a process has it that begins now."""
        words = Segmenter(self.words).words
        roots = (top or self.top, *more)
        code = make_code(self.home, roots, {"HOME": str(self.base)}, words, lambda text: len(text) // 4, overview)
        self.made.append(code)
        return code

    async def find(self, query: str, *more: Path, **options: int | str) -> list[str]:
        """Where `query` is found, by a process of its own: path and symbol, best first."""
        return told(await self.code(*more).search(query, **options))  # type: ignore[arg-type]

    def builder(self, read: list[bytes] | None = None) -> Builder:
        """What takes files in; `read` is told the content of each that it reads as text."""

        def text(data: bytes) -> str | None:
            if read is not None:
                read.append(data)
            decoded = decode(data)
            return decoded[0] if decoded else None

        return Builder(self.store, text)

    def update(self, paths: Sequence[str] | None = None, read: list[bytes] | None = None) -> Outcome:
        """Take in the files of the top, or those of `paths`."""
        if paths is None:
            paths = [path.relative_to(self.top).as_posix() for path in self.top.rglob("*") if not path.is_dir()]
        return self.builder(read).update(self.top, paths)

    @property
    def store(self) -> CodeStore:
        return CodeStore(self.home.code)


def told(found: CodeHits) -> list[str]:
    return [f"{hit.path} {hit.symbol}".rstrip() for hit in found.hits]
