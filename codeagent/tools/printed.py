"""What a command printed, as text: bounded first and cleaned after, so that much output costs little."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from codeagent.core.display import plain
from codeagent.core.jobs import Printed
from codeagent.tools.encodings import decode_output

_END = 200_000
"""Bytes of either end of what is handed on as text."""
_LINE = 1_000_000
"""Bytes of a line that are cleaned at once."""


def printed(data: bytes, size: int, whole: Iterable[bytes] | None) -> Printed:
    """`size` bytes of output, of which `data` holds at least both ends, and `whole` all, where it may be archived."""
    if size <= 2 * _END:
        return Printed(plain(decode_output(data)))
    head, tail = _until_line(data[:_END]), _from_line(data[-_END:])
    gap = f"\n[... {size - len(head) - len(tail)} bytes left out ...]\n"
    text = plain(decode_output(head)).removesuffix("\n") + gap + plain(decode_output(tail))
    return Printed(text, None if whole is None else _cleaned(whole, size))


def complete(data: bytes) -> int:
    """Length of `data` without a character whose end has not come yet."""
    return codecs.utf_8_decode(data, "replace", False)[1]


def _until_line(data: bytes) -> bytes:
    """`data` up to its last line end, or to its last whole character."""
    return data[: data.rfind(b"\n") + 1] or data[: complete(data)]


def _from_line(data: bytes) -> bytes:
    """`data` after its first line end, or from its first character on."""
    start = data.find(b"\n") + 1
    return data[start:] if 0 < start < len(data) else data.lstrip(bytes(range(0x80, 0xC0)))


def _cleaned(pieces: Iterable[bytes], size: int) -> Iterator[str]:
    """`size` bytes as plain text, in pieces that end with a line where lines are of a sane length, so that no
    character and no escape sequence is cut.
    """
    rest = b""
    for piece in pieces:
        rest += piece[:size]
        size -= len(piece)
        end = rest.rfind(b"\n") + 1
        if not end and len(rest) >= _LINE:
            end = complete(rest)
        if end:
            yield plain(decode_output(rest[:end]))
            rest = rest[end:]
        if size <= 0:
            break
    if rest:
        yield plain(decode_output(rest))
