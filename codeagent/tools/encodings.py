"""Bytes to text and back, for files and for what programs print."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from codeagent.tools import charsets

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BACKSPACES = 8
"""How many in a row are obeyed."""
_ERASED = re.compile(r"[^\x08\n]\x08")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file writes its text."""

    name: str = "utf-8"
    bom: bytes = b""
    sure: bool = True
    """False for a guess that may be wrong: other characters than the file has are not to be written by it."""
    damaged: bool = False
    """UTF-8 but for some bytes; they are lone surrogates in the text, and are written as they were."""
    carriage_returns: bool = False
    """They alone end lines; in the text these are newlines."""

    @property
    def errors(self) -> str:
        """How bytes that are no characters are taken, and written."""
        return "surrogateescape" if self.damaged else "strict"

    def encode(self, text: str) -> bytes:
        """Raises:
        UnicodeEncodeError: the encoding has no such character.
        """
        if self.carriage_returns:
            text = text.replace("\r\n", "\n").replace("\n", "\r")
        return self.bom + text.encode(self.name, self.errors)

    def guesses(self, text: str, before: str) -> bool:
        """Whether it would be a guess how to write `text`, in a file that held `before`."""
        return not self.sure and any(char not in before for char in set(text) if char > "\x7f")


UTF8 = Encoding()
_BAD = re.compile("[\udc80-\udcff]+")
_GOOD = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]")
_PLAIN_UTF8 = 4
"""So many whole characters beyond ASCII for each damaged place make a text UTF-8: other encodings have hardly any."""


def detect(data: bytes, *, whole: bool = True) -> Encoding | None:
    """The encoding of `data`, None for binary; with `whole=False` it is only the beginning of a file.

    A BOM decides; else NUL bytes (UTF-16 or binary), then UTF-8, then what the bytes look like.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return Encoding(name, bom)
    if b"\0" in data:
        name = charsets.wide(data, whole=whole)
        return Encoding(name) if name else None
    if charsets.decodes(data, "utf-8", whole=whole):
        return UTF8
    if _nearly_utf8(data):
        return Encoding(damaged=True)
    name, sure = charsets.guess(data, whole=whole)
    return Encoding(name, sure=sure)


def _nearly_utf8(data: bytes) -> bool:
    """Whether it is UTF-8 that was cut within a character, or damaged in few places."""
    text = data.decode("utf-8", "surrogateescape")
    damaged = sum(1 for _ in _BAD.finditer(text))
    return 0 < damaged * _PLAIN_UTF8 <= sum(1 for _ in _GOOD.finditer(text))


def decode(data: bytes) -> tuple[str, Encoding] | None:
    """Text and encoding of a whole file, None for binary. What cannot be decoded is replaced; "\\r" becomes "\\n"
    where nothing else ends a line.
    """
    encoding = detect(data)
    if encoding is None:
        return None
    text = data[len(encoding.bom) :].decode(encoding.name, encoding.errors if encoding.damaged else "replace")
    if "\r" in text and "\n" not in text:
        return text.replace("\r", "\n"), replace(encoding, carriage_returns=True)
    return text, encoding


def decode_output(data: bytes) -> str:
    """What a program printed, line by line in UTF-8 or GB18030, as a terminal would have left it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "".join(_decode_line(line) for line in data.splitlines(keepends=True))
    if "\r" in text:
        # A progress bar draws over itself: the last state counts.
        text = "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
    for _ in range(_BACKSPACES if "\x08" in text else 0):
        text = _ERASED.sub("", text)
    return text


def _decode_line(line: bytes) -> str:
    for name in ("utf-8", "gb18030"):
        try:
            return line.decode(name)
        except UnicodeDecodeError:
            continue
    return line.decode("utf-8", "replace")
