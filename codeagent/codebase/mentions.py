"""Which names the code of a file says, as small numbers: what the symbol map counts references by."""

from __future__ import annotations

import re
import zlib
from array import array

_ASIDE = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|/\*.*?\*/|(?<!:)//[^\n]*|#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL
)
"""Strings and comments: words there are prose."""
_NAME = re.compile(r"[^\W\d]\w{2,79}")
_USED = re.compile(r"\b[^\W\d]\w{2,79}(?=\s?\()|(?<=\.)[^\W\d]\w{2,79}|(?<=import )[^\W\d]\w{2,79}")
_LONGEST = 400_000
"""Characters of a file that are looked at."""


def number(name: str) -> int:
    """32 bits that stand for a name: two that share them would only be counted together."""
    return zlib.crc32(name.encode("utf-8", "replace"))


def mentioned(text: str) -> bytes:
    """The names that the code of a file says, each once, packed.

    A plain lower-case word counts only where it is called, imported or asked of something: any sentence says it.
    """
    code = _ASIDE.sub(" ", text[:_LONGEST])
    names = {name for name in _NAME.findall(code) if not (name.islower() and name.isalpha())}
    names.update(_USED.findall(code))
    return zlib.compress(array("I", sorted(map(number, names))).tobytes(), 1)


def unpacked(packed: bytes) -> array[int]:
    """Numbers of names, as `mentioned` packed them."""
    numbers = array("I")
    if packed:
        numbers.frombytes(zlib.decompress(packed))
    return numbers
