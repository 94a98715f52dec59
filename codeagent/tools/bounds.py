"""How much of a tool's output the model gets, and what it is told about the rest. Sizes are bytes of UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codeagent.core.jobs import Printed
from codeagent.core.keeping import keep
from codeagent.core.ports import Archive
from codeagent.core.tools import ToolContext

NOTES = 1_000
"""For what a tool says of its result, beside the room that a context gives to results."""
READ = 32_000
SEARCH = 8_000
SHELL = 8_000
REPORT = 16_000
"""What a subagent has to say."""
LINE = 2_000
"""Characters of one line of a file."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """`text` within its limit; `archive` is the id of the whole where something was left out."""

    text: str
    partial: bool = False
    archive: str | None = None


def size(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def head_and_tail(text: str, limit: int) -> tuple[str, str, int]:
    """The first third and the last two thirds of `limit` bytes, cut at line ends where near, and the bytes between."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text, "", 0
    head = data[: limit // 3]
    tail = data[-(limit - limit // 3) :]
    if (end := head.rfind(b"\n")) > len(head) // 2:
        head = head[: end + 1]
    if 0 <= (start := tail.find(b"\n")) < len(tail) // 2:
        tail = tail[start + 1 :]
    left_out = len(data) - len(head) - len(tail)
    return head.decode("utf-8", "ignore"), tail.decode("utf-8", "ignore"), left_out


def bound(text: str, limit: int, archive: Archive, call_id: str, whole: Iterable[str] | None = None) -> Bounded:
    """Keep head and tail of `text`; the whole goes to the archive, and a line between the two says where it is.

    `whole` gives it in pieces, where `text` itself is not all of it.
    """
    head, tail, left_out = head_and_tail(text, limit)
    if not left_out and whole is None:
        return Bounded(text)
    head = head.removesuffix("\n")
    archived = 0

    def pieces() -> Iterator[str]:
        nonlocal archived
        for piece in (text,) if whole is None else whole:
            archived += size(piece)
            yield piece

    name, where = keep(archive, call_id, pieces())
    if not left_out:
        return Bounded(f"{text}\n[{where}]", True, name)
    if name:
        left_out += archived - size(text)
    return Bounded(f"{head}\n[... {left_out} bytes left out; {where} ...]\n{tail}", True, name)


def bound_printed(printed: Printed, ctx: ToolContext) -> Bounded:
    """`bound` for what a command printed."""
    return bound(printed.text.strip("\n"), min(SHELL, ctx.room), ctx.archive, ctx.call_id, printed.whole)


def clip(line: str, limit: int = LINE) -> str:
    """`line` with at most `limit` characters, and a note of how many more there are."""
    return line if len(line) <= limit else f"{line[:limit]} [+{len(line) - limit} characters]"
