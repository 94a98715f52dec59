"""Searching file contents: one query, answered by ripgrep or by our own search, in the order of paths.

Files in other encodings than Unicode cannot be searched by ripgrep for what is not ASCII: both ways look into these in
the end, when there is not enough without them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeagent.core.display import plain
from codeagent.core.tools import ToolContext
from codeagent.tools import globs
from codeagent.tools.apart import SECONDS, search_apart, too_slow
from codeagent.tools.encodings import decode_output
from codeagent.tools.own_search import encoding_of
from codeagent.tools.process import capture
from codeagent.tools.queries import COLUMNS, Hit, Query, bad_pattern, path_filter, shown_line
from codeagent.tools.walking import rg_arguments, ripgrep

_LABELS: dict[str | None, str] = {"cp950": "big5", "cp932": "shift_jis", "cp1252": "windows-1252"}
"""What ripgrep calls the encodings that Python has other names for."""
_BATCH = 1_000
"""Files that ripgrep is given by name at a time."""
_NO_UTF8 = r"(?-u:(?:^|[\x00-\x7f])[\x80-\xbf]|[\xc0-\xff](?:[\x00-\x7f\xc0-\xff]|$))"
_ROW = re.compile(rb"([^\0\n]+)\0(\d+)([:-])([^\n]*)")
_COUNT = re.compile(rb"([^\0\n]+)\0(\d+)")
_MATCH = re.compile(rb"\0\d+:")


async def search(query: Query, ctx: ToolContext) -> list[Hit]:
    """The hits of a query, by ripgrep where it is and runs. Raises ToolFault as both ways do."""
    if rg := ripgrep(ctx.environ):
        try:
            async with asyncio.timeout(SECONDS):
                return await search_rg(query, ctx, rg)
        except TimeoutError:
            raise too_slow(SECONDS) from None
        except OSError:  # it does not run here
            pass
    return await search_apart(query, ctx)


async def search_hidden(query: Query, ctx: ToolContext, most: int) -> list[Path]:
    """Up to `most` hidden files below the target that would have hits."""
    found = [str(hit.path) for hit in await search(replace(query, mode="files", hidden=True), ctx)]
    start = len(str(query.target))
    return [Path(path) for path in found if "/." in path[start:]][:most]


async def search_rg(query: Query, ctx: ToolContext, rg: str) -> list[Hit]:
    """Hits in the order of paths, those in files that are not in Unicode at the end.

    Raises:
        ToolFault: the pattern is not a regular expression.
    """
    search = _Search(query, ctx, rg, path_filter(query.glob))
    hits = await search.hits()
    if not query.pattern.isascii() and sum(hit.match for hit in hits) < query.enough:
        known = {str(hit.path) for hit in hits}
        others = [path for path in await search.files(_NO_UTF8) if path not in known]
        hits += await search.others(others)
    return hits


@dataclass(frozen=True, slots=True)
class _Search:
    query: Query
    ctx: ToolContext
    rg: str
    fits: Callable[[str], bool]

    async def hits(self) -> list[Hit]:
        """Files are found by all processors, then the first of them are read in order: ripgrep sorts by one alone."""
        query = self.query
        if query.mode == "count":
            data, _ = await self._ask("--count", *self._where(), pattern=query.pattern)
            counted = [(os.fsdecode(name), count.decode()) for name, count in _COUNT.findall(data)]
            return [Hit(Path(path), text=n) for path, n in sorted(counted, key=_by_path) if self.fits(path)]
        alone = query.mode == "content" and query.target.is_file()
        files = [str(query.target)] if alone else await self.files(query.pattern)
        if query.mode == "files":
            return [Hit(Path(path)) for path in files]
        hits: list[Hit] = []
        left = query.enough
        for start in range(0, len(files), _BATCH):
            if left < 0:
                break
            found = await self._lines(files[start : start + _BATCH], left)
            left -= sum(hit.match for hit in found)
            hits += found
        return hits

    async def others(self, files: Sequence[str]) -> list[Hit]:
        """The same in files that are not in Unicode, each read in its encoding."""
        hits: list[Hit] = []
        known = await asyncio.to_thread(lambda: [(encoding_of(path), path) for path in files])
        for name in sorted({name for name, _ in known if name not in (None, "utf-8")}, key=str):
            some = [path for encoding, path in known if encoding == name]
            for start in range(0, len(some), _BATCH):
                hits += await self._read(some[start : start + _BATCH], f"--encoding={_LABELS.get(name, name)}")
        return sorted(hits, key=lambda hit: (_path_key(str(hit.path)), hit.number))

    async def _read(self, files: Sequence[str], encoding: str) -> list[Hit]:
        if self.query.mode == "content":
            return await self._lines(files, self.query.enough, encoding)
        shape = "--count" if self.query.mode == "count" else "--files-with-matches"
        data, _ = await self._ask(shape, "--with-filename", encoding, pattern=self.query.pattern, paths=files)
        if self.query.mode == "count":
            return [Hit(Path(os.fsdecode(name)), text=n.decode()) for name, n in _COUNT.findall(data)]
        return [Hit(Path(path)) for path in os.fsdecode(data).split("\0") if path]

    async def files(self, pattern: str) -> list[str]:
        """Paths of the files in which the pattern is found, sorted."""
        data, _ = await self._ask("--files-with-matches", *self._where(), pattern=pattern)
        return sorted((path for path in os.fsdecode(data).split("\0") if path and self.fits(path)), key=_path_key)

    async def _lines(self, files: Sequence[str], left: int, *more: str) -> list[Hit]:
        query = self.query
        shape = [f"-M{COLUMNS}", "--max-columns-preview", f"-B{query.before}", f"-A{query.after}"]
        rows = ["--line-number", "--with-filename", "--no-heading", "--sort=path", *shape, *more]
        data, _ = await self._ask(
            *rows, pattern=query.pattern, paths=files, enough=lambda got: len(_MATCH.findall(got)) > left
        )
        read: dict[bytes, str | None] = {}
        return [
            Hit(Path(os.fsdecode(name)), int(number), shown_line(_decoded(text, name, read)), kind == b":")
            for name, number, kind, text in _ROW.findall(data)
        ]

    def _where(self) -> list[str]:
        return [*rg_arguments(self.ctx, hidden=self.query.hidden), *_names(self.query.glob)]

    async def _ask(
        self,
        *options: str,
        pattern: str,
        paths: Sequence[str] = (),
        enough: Callable[[bytearray], bool] | None = None,
    ) -> tuple[bytes, int | None]:
        argv = [self.rg, "--no-config", "--color=never", "--no-messages", "--null", "--engine=auto", *options]
        if self.query.ignore_case:
            argv.append("-i")
        if self.query.multiline:
            argv.append("--multiline")
        argv += ["-e", pattern, "--", *(paths or (str(self.query.target),))]
        data, code = await capture(argv, cwd=self.ctx.roots[0], environ=self.ctx.environ, enough=enough)
        if code == 2 and b"\0" not in data and data.strip():
            raise bad_pattern(_reason(plain(decode_output(data))))
        return data, code


def _reason(told: str) -> str:
    """What ripgrep has against a pattern, in one line."""
    first = re.search(r"^error: (.+)$", told, re.MULTILINE)
    second = re.search(r"^PCRE2: .*?: (.+)$", told, re.MULTILINE)
    if first and second and "not supported" in first[1]:
        return second[1]
    return first[1] if first else " ".join(told.split())[:300]


def _names(glob: str) -> list[str]:
    """ripgrep's options for the names of files. Not --glob, which would bring ignored files back."""
    if glob.startswith("!"):
        return [f"--glob={glob}"]
    names = [one.rsplit("/", 1)[-1] for one in globs.expand(glob) if glob]
    if not names or {"", "*", "**"} & set(names):
        return []
    return [*(f"--type-add=wanted:{name}" for name in names), "--type=wanted"]


def _path_key(path: str) -> bytes:
    """Sorts as a walk goes: what is in a folder stands together."""
    return os.fsencode(path).replace(b"/", b"\0")


def _by_path(row: tuple[str, str]) -> bytes:
    return _path_key(row[0])


def _decoded(text: bytes, name: bytes, read: dict[bytes, str | None]) -> str:
    """A line as its file writes it; `read` keeps the encodings that were found."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        if name not in read:
            read[name] = encoding_of(os.fsdecode(name))
        return text.decode(read[name] or "utf-8", "replace")
