"""read_file: a page of a text file with line numbers, a folder's listing, or the reason why not."""

from __future__ import annotations

import asyncio
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.keeping import keep
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import Encoding, detect
from codeagent.tools.paths import counted, missing, resolve, short, shown

LINES = 2_000
_SNIFFED = 1_000_000
_COUNTED = 50_000_000
"""Bytes of a file whose lines are counted to the end."""
_IMAGES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico"}
_ENTRIES = 500


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    path: str
    offset: int = Field(1, ge=0)
    """First line, from 1."""
    limit: int = Field(LINES, ge=1)
    """Lines, at most 2000."""


@dataclass(frozen=True, slots=True)
class _Page:
    lines: list[str]
    first: int
    total: int | None
    """Lines of the whole file, None where it goes on and was not counted."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Read a text file as lines "number<TAB>text", up to 2000 lines or 32 kB a call; a folder gives its
    listing. Read a file before you change it.
    """
    return await asyncio.to_thread(_run, params, ctx)


def _run(params: Params, ctx: ToolContext) -> ToolResult:
    path = resolve(ctx, params.path)
    try:
        info = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFault(missing(ctx, path), "missing") from None
    name = shown(ctx, path)
    if stat.S_ISDIR(info.st_mode):
        return _listing(path, name, ctx)
    if not stat.S_ISREG(info.st_mode):
        raise ToolFault(f"{name} is not a regular file.", "not a file")
    with path.open("rb") as file:
        encoding = detect(head := file.read(_SNIFFED), whole=len(head) < _SNIFFED)
    if encoding is None:
        what = "an image, which this model is not shown" if path.suffix.lower() in _IMAGES else "binary"
        raise ToolFault(f"{name} is {what} ({info.st_size} bytes).", "binary")
    ctx.files.note(path)
    if len(head) == len(encoding.bom):
        return ToolResult(f"({name} is empty)", summary="empty")
    page = _read(path, encoding, max(params.offset, 1), min(params.limit, LINES))
    return _answer(page, name, encoding)


def _read(path: Path, encoding: Encoding, offset: int, limit: int) -> _Page:
    lines: list[str] = []
    number = used = 0
    with path.open("rb") as raw:
        raw.seek(len(encoding.bom))
        # Only "\n" ends a line, as for grep; very long lines never stand in memory whole.
        text = io.TextIOWrapper(raw, encoding=encoding.name, errors="replace", newline="\n")
        while piece := text.readline(bounds.LINE + 1):
            number += 1
            if len(lines) == limit:
                return _Page(lines, offset, _count(text, number, inside=not piece.endswith("\n")))
            more = _skip(text) if not piece.endswith("\n") else 0
            if number < offset:
                continue
            line = _numbered(number, piece if more else piece.rstrip("\r\n"), more)
            used += bounds.size(line) + 1
            if lines and used > bounds.READ:
                return _Page(lines, offset, _count(text, number, inside=False))
            lines.append(line)
    return _Page(lines, offset, number)


def _skip(text: io.TextIOWrapper) -> int:
    """Read to the end of the line; how many characters that were."""
    skipped = 0
    while rest := text.readline(65_536):
        skipped += len(rest.rstrip("\r\n"))
        if rest.endswith("\n"):
            break
    return skipped


def _count(text: io.TextIOWrapper, number: int, *, inside: bool) -> int | None:
    """Lines in all, after `number` of which the last may be read in part; None for a file too large to count."""
    if os.fstat(text.fileno()).st_size > _COUNTED:
        return None
    rest = sum(1 for _ in text)
    return number + rest - (inside and rest > 0)


def _numbered(number: int, text: str, more: int) -> str:
    over = len(text) - bounds.LINE + more
    if over <= 0:
        return f"{number}\t{text}"
    return f"{number}\t{text[: bounds.LINE]} [+{over} characters; see them with shell: cut -c]"


def _answer(page: _Page, name: str, encoding: Encoding) -> ToolResult:
    if not page.lines:
        raise ToolFault(f"{name} has {page.total} lines; offset {page.first} is behind its end.", "behind the end")
    last = page.first + len(page.lines) - 1
    partial = page.total is None or last < page.total
    notes = []
    if partial:
        of = f" of {page.total}" if page.total is not None else ""
        notes.append(f"[lines {page.first}-{last}{of}; go on with offset={last + 1}]")
    if encoding.name not in ("utf-8", "latin-1"):
        notes.append(f"[encoding {encoding.name}, kept when you edit]")
    summary = counted(len(page.lines), "line") + (f" of {page.total:,}" if partial and page.total else "")
    return ToolResult("\n".join((*page.lines, *notes)), partial=partial, summary=summary)


def _listing(path: Path, name: str, ctx: ToolContext) -> ToolResult:
    with os.scandir(path) as scan:
        entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in scan)
    lines, archive = [f"{name} is a folder with {len(entries)} entries:", *entries[:_ENTRIES]], None
    if partial := len(entries) > _ENTRIES:
        archive, where = keep(ctx.archive, ctx.call_id, (f"{entry}\n" for entry in entries))
        lines.append(f"[{len(entries) - _ENTRIES} more; narrow down with glob; {where}]")
    return ToolResult("\n".join(lines), partial=partial, summary=f"{len(entries):,} entries", archive=archive)


def title(params: Params) -> str:
    return f"Read {short(params.path)}" + (f" from line {params.offset}" if params.offset > 1 else "")


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("read_file", "read", str(resolve(ctx, params.path)), title(params))


TOOL = Tool("read_file", "read", Params, run, title, action, order=10)
