"""read_file: a page of a file, a picture, a folder's listing, or the reason why not."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from codeagent.core.keeping import keep
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import Encoding, detect
from codeagent.tools.holding import open_held
from codeagent.tools.notebooks import notebook_lines
from codeagent.tools.own_search import ends_lines_with_cr
from codeagent.tools.paging import LINES, answer, page_of, read_page
from codeagent.tools.paths import missing, refuse_system, resolve, short, shown
from codeagent.tools.pdf import read_pdf
from codeagent.tools.pictures import describe, is_picture, load_picture

_SNIFFED = 1_000_000
_ENTRIES = 500


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    path: str
    offset: int = Field(1, ge=0)
    """First line (PDF: page), from 1."""
    limit: int = Field(LINES, ge=1)
    """Lines, at most 2000."""


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Read a file as lines "number<TAB>text", up to 2000 lines or 32 kB a call. Also PDF, notebooks, images; a
    folder gives its listing. Read a file before you change it.
    """
    path = resolve(ctx, params.path)
    offset, limit = max(params.offset, 1), min(params.limit, LINES)
    result = await asyncio.to_thread(_read, path, offset, limit, ctx)
    return result or await read_pdf(path, shown(ctx, path), offset, limit, ctx)


def _read(path: Path, offset: int, limit: int, ctx: ToolContext) -> ToolResult | None:
    """The answer; None for a PDF, which is read elsewhere."""
    name = shown(ctx, path)
    refuse_system(ctx, path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ToolFault(missing(ctx, path), "missing") from None
    if stat.S_ISDIR(mode):
        return _listing(path, name, ctx)
    if not stat.S_ISREG(mode):
        raise ToolFault(f"{name} is not a regular file.", "not a file")
    with open_held(path) as file:
        head = file.read(_SNIFFED)
    if head.startswith(b"%PDF-"):
        return None
    if is_picture(path, head):
        return _picture(path, name, head, ctx)
    room = min(bounds.READ, ctx.room)
    encoding = detect(head, whole=len(head) < _SNIFFED)
    if encoding is None:
        raise ToolFault(f"{name} is binary ({path.stat().st_size} bytes).", "binary")
    ctx.files.note(path)
    if len(head) == len(encoding.bom):
        return ToolResult(f"({name} is empty)", summary="empty")
    if path.suffix.lower() == ".ipynb" and (lines := notebook_lines(path)) is not None:
        return answer(page_of(lines, offset, limit, room), name, "[a notebook as cells; the file itself is JSON]")
    if ends_lines_with_cr(str(path)):
        encoding = replace(encoding, carriage_returns=True)
    return answer(read_page(path, encoding, offset, limit, room), name, *_written(encoding))


def _written(encoding: Encoding) -> Iterator[str]:
    """What is unusual about how a file is written."""
    if not encoding.sure:
        yield (
            f"[encoding not certain, read as {encoding.name}: some characters may be others. An edit keeps the bytes "
            "around it, and writes no characters but ASCII and those of the file]"
        )
    elif encoding.damaged:
        yield "[not UTF-8 in places: \ufffd stands for bytes that are no characters; an edit keeps them]"
    elif encoding.name not in ("utf-8", "latin-1"):
        yield f"[encoding {encoding.name}, kept when you edit]"
    if encoding.carriage_returns:
        yield "[lines end with carriage returns, kept when you edit]"


def _picture(path: Path, name: str, head: bytes, ctx: ToolContext) -> ToolResult:
    about = describe(name, head, path.stat().st_size)
    if not ctx.sees:
        return ToolResult(f"Image {about}. This model is not shown images.", summary="image, not shown")
    try:
        image = load_picture(path, name, ctx.archive)
    except ToolFault as fault:
        return ToolResult(f"Image {fault}", summary="image, not shown")
    return ToolResult(f"Image {about}. It follows the results.", images=(image,), summary="image")


def _listing(path: Path, name: str, ctx: ToolContext) -> ToolResult:
    with os.scandir(path) as scan:
        entries = sorted(entry.name + _ending(entry) for entry in scan)
    lines, archive = [f"{name} is a folder with {len(entries)} entries:", *entries[:_ENTRIES]], None
    if partial := len(entries) > _ENTRIES:
        archive, where = keep(ctx.archive, ctx.call_id, (f"{entry}\n" for entry in entries))
        lines.append(f"[{len(entries) - _ENTRIES} more; narrow down with glob; {where}]")
    return ToolResult("\n".join(lines), partial=partial, summary=f"{len(entries):,} entries", archive=archive)


def _ending(entry: os.DirEntry[str]) -> str:
    try:
        return "/" if entry.is_dir() else ""
    except OSError:  # a link that leads to itself
        return "@"


def title(params: Params) -> str:
    return f"Read {short(params.path)}" + (f" from line {params.offset}" if params.offset > 1 else "")


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("read_file", "read", str(resolve(ctx, params.path)), title(params))


TOOL = Tool("read_file", "read", Params, run, title, action, order=10)
