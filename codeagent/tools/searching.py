"""Searching file contents: one query, answered by ripgrep or by our own search, in the order of paths.

ripgrep cannot tell the lines apart where carriage returns alone end them, nor find what is not ASCII in other
encodings than Unicode: our own search looks into the former, and ripgrep, told the encoding, into the latter in the
end, when there is not enough without them.
"""

from __future__ import annotations

import asyncio
import heapq
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from codeagent.core.tools import ToolContext
from codeagent.tools.apart import SECONDS, search_apart, too_slow
from codeagent.tools.base import ToolFault
from codeagent.tools.own_search import encoding_of, ends_lines_with_cr, is_binary
from codeagent.tools.queries import Hit, Query, path_filter, shown_line
from codeagent.tools.ripgrep import Found, Row, ask, only_hidden, options_for, path_key, row_key
from codeagent.tools.walking import ripgrep

_LABELS: dict[str | None, str] = {"cp950": "big5", "cp932": "shift_jis", "cp1252": "windows-1252"}
"""What ripgrep calls the encodings that Python has other names for."""
_BATCH = 1_000
"""Files that ripgrep is given by name at a time."""
_NO_UTF8 = r"(?-u:(?:^|[\x00-\x7f])[\x80-\xbf]|[\xc0-\xff](?:[\x00-\x7f\xc0-\xff]|$))"
QUICK = 0.3
"""Seconds in which one processor may find enough in the order of paths, before all of them look everywhere."""


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
    """Up to `most` hidden files below the target that would have hits; none where looking takes too long."""
    wanted = replace(query, mode="files", hidden=True)
    start = len(str(query.target))
    try:
        if rg := ripgrep(ctx.environ):
            async with asyncio.timeout(SECONDS):
                return [path for path in await only_hidden(wanted, ctx, rg, most) if "/." in str(path)[start:]][:most]
        found = [hit.path for hit in await search_apart(wanted, ctx)]
    except (ToolFault, TimeoutError, OSError):
        return []
    return [path for path in found if "/." in str(path)[start:]][:most]


async def search_rg(query: Query, ctx: ToolContext, rg: str, quick: float = QUICK) -> list[Hit]:
    """Hits in the order of paths, those in files that are not in Unicode at the end. After `quick` seconds all
    processors are put to work.

    Raises:
        ToolFault: the pattern is not a regular expression.
    """
    fits, start = path_filter(query.glob, query.target), len(str(query.target))
    # By a type of files ripgrep finds hidden ones, too.
    search = _Search(query, ctx, rg, lambda path: fits(path) and (query.hidden or "/." not in path[start:]), quick)
    hits = await search.hits()
    if query.beyond_ascii and sum(hit.match for hit in hits) < query.enough:
        known = {str(hit.path) for hit in hits}
        others = [path for path in await search.files(_NO_UTF8) if path not in known]
        hits += await search.others(others)
    return await search.apart(hits)


@dataclass(frozen=True, slots=True)
class _Search:
    query: Query
    ctx: ToolContext
    rg: str
    fits: Callable[[str], bool]
    quick: float

    async def hits(self) -> list[Hit]:
        """Most often the first processor finds enough at once. Else all of them find the files, and then the first of
        those are read in order: ripgrep sorts by one processor alone.
        """
        query, where = self.query, options_for(self.query, self.ctx)
        if (alone := query.target.is_file()) and await asyncio.to_thread(is_binary, query.target):
            return []
        try:
            async with asyncio.timeout(None if alone else self.quick):
                return await self._hits(await self._asked("--sort=path", *where, stop=True))
        except TimeoutError:
            pass
        if query.mode != "content":
            rows = await self._asked(*where)
            first = await asyncio.to_thread(heapq.nsmallest, query.enough + 1, rows, row_key)
            return await self._hits(first)
        hits: list[Hit] = []
        left = query.enough
        files = await self.files(query.pattern)
        for start in range(0, len(files), _BATCH):
            if left < 0:
                break
            batch = files[start : start + _BATCH]
            found = await self._hits(await self._asked("--sort=path", paths=batch, stop=True, enough=left))
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
                batch = some[start : start + _BATCH]
                hits += await self._hits(
                    await self._asked(f"--encoding={_LABELS.get(name, name)}", "--sort=path", paths=batch, stop=True)
                )
        return sorted(hits, key=lambda hit: (path_key(os.fsencode(hit.path)), hit.number))

    async def files(self, pattern: str) -> list[str]:
        """Paths of the files in which the pattern is found, sorted."""
        wanted = replace(self.query, mode="files", pattern=pattern)
        rows = await ask(self.rg, wanted, self.ctx, Found("files", self.fits), *options_for(self.query, self.ctx))
        return await asyncio.to_thread(lambda: [os.fsdecode(row.name) for row in sorted(rows, key=row_key)])

    async def apart(self, hits: list[Hit]) -> list[Hit]:
        """`hits` with those by our own search in place of those in files in which ripgrep sees one line."""
        if self.query.mode == "content":
            first = {str(hit.path) for hit in hits if hit.number == 1 and "^M" in hit.text}
        else:  # what was skipped need not be right
            first = {str(hit.path) for hit in hits[-_BATCH - 1 :] if hit.text == "1"}
        odd = await asyncio.to_thread(lambda: [path for path in sorted(first) if ends_lines_with_cr(path)])
        if not odd:
            return hits
        found = await search_apart(replace(self.query, files=tuple(odd)), self.ctx)
        ours = {path: list(rows) for path, rows in groupby(found, lambda hit: str(hit.path))}
        mended: list[Hit] = []
        for path, rows in groupby(hits, lambda hit: str(hit.path)):
            mended += ours.get(path, ()) if path in odd else rows
        return mended

    async def _asked(
        self, *options: str, paths: Sequence[str] = (), stop: bool = False, enough: int | None = None
    ) -> list[Row]:
        most = self.query.enough if enough is None else enough
        found = Found(self.query.mode, self.fits, most if stop else None)
        return await ask(self.rg, self.query, self.ctx, found, *options, paths=paths)

    async def _hits(self, rows: Sequence[Row]) -> list[Hit]:
        return await asyncio.to_thread(lambda: list(_decoded(rows)))


def _decoded(rows: Sequence[Row]) -> Iterator[Hit]:
    """Rows as hits, each line as its file writes it."""
    for name, group in groupby(rows, lambda row: row.name):
        path = os.fsdecode(name)
        encoding: str | None = None
        for row in group:
            try:
                text = row.text.decode()
            except UnicodeDecodeError:
                encoding = encoding or encoding_of(path) or "utf-8"
                text = row.text.decode(encoding, "replace")
            yield Hit(Path(path), row.number, shown_line(text) if row.number else text, row.match)
