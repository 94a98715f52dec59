"""The text of a PDF, page by page, where the library for it is installed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from codeagent.core.tools import ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import counted
from codeagent.tools.process import capture

PAGES = 50
_SECONDS = 30.0
_PROGRAM = Path(__file__).with_name("pdf_pages.py")


async def read_pdf(path: Path, name: str, offset: int, limit: int, ctx: ToolContext) -> ToolResult:
    """Pages from page `offset` on, as many as fit.

    Raises:
        ToolFault: there is no text to be had; the sentence says why.
    """
    if find_spec("pypdf") is None:
        raise ToolFault(
            f"{name} is a PDF; pip install 'codeagent[pdf]' makes its text readable (or shell: pdftotext).", "PDF"
        )
    argv = [sys.executable, "-P", str(_PROGRAM), str(path), str(offset), str(min(limit, PAGES))]
    got = bytearray()

    def enough(data: bytearray) -> bool:
        got[:] = data
        return len(data) > 4 * bounds.READ

    slow = False
    try:
        async with asyncio.timeout(_SECONDS):
            data, _ = await capture(argv, cwd=ctx.roots[0], environ=ctx.environ, enough=enough)
    except TimeoutError:
        data, slow = bytes(got), True
    return _answer(name, offset, data, min(bounds.READ, ctx.room), slow=slow)


def _answer(name: str, offset: int, data: bytes, room: int, *, slow: bool) -> ToolResult:
    total, error = 0, "it took too long" if slow else ""
    pages: list[tuple[int, str]] = []
    for value in _values(data):
        match value:
            case int():
                total = value
            case [int(number), str(text)]:
                pages.append((number, text))
            case {"error": reason}:
                error = str(reason)
    if not pages and error:
        raise ToolFault(f"{name} is a PDF that cannot be read: {error}.", "unreadable")
    if not pages:
        raise ToolFault(f"{name} has {counted(total, 'page')}; offset {offset} is behind its end.", "behind the end")
    shown, last = _fitting(pages, room)
    partial = last < total
    if partial:
        shown.append(f"[pages {offset}-{last} of {total}; go on with offset={last + 1}]")
    return ToolResult("\n".join(shown), partial=partial, summary=counted(last - offset + 1, "page"))


def _values(data: bytes) -> Iterator[object]:
    for line in data.splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # a warning of the interpreter, or a line that was cut
            continue


def _fitting(pages: list[tuple[int, str]], room: int) -> tuple[list[str], int]:
    """As many pages as fit, the first at least in part, and the number of the last."""
    shown: list[str] = []
    used, last = 0, pages[0][0]
    for number, text in pages:
        body = text.strip() or "(no text; it may be a picture)"
        block = f"--- page {number}\n{body}"
        if (size := bounds.size(block)) > room:
            cut = block.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
            block = f"{cut}\n[the rest of the page is left out: {size - room} bytes]"
        if shown and used + size > room:
            break
        shown.append(block)
        used += size
        last = number
    return shown, last
