"""Pictures in messages: what one is on the wire, how large it is, what it weighs in tokens; without a library."""

from __future__ import annotations

import base64
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

Kind = str
"""The last part of a media type: png, jpeg, gif, webp."""

_URL = re.compile(rb'"url":"data:image/[a-z0-9.+-]+;base64,([A-Za-z0-9+/=]+)"')
_MARK = b'"url":"data:image/'
_HEAD = 65_536
"""Bytes of a picture in which its size is looked for first."""
_LONG = 1_568
"""Pixels of the longer side to which models scale down what they are given."""
_PIXELS = 750
"""Pixels that make a token."""
_LEAST = 85
_UNKNOWN = 1_600
"""Tokens of a picture whose size cannot be read."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as a message carries it."""

    caption: str
    """Tells in brackets what it is and where it is kept; stands in front of it, and in its place where it is left
    out."""
    url: str
    """A data URL."""


@dataclass(frozen=True, slots=True)
class Size:
    kind: Kind
    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.kind.upper()}, {self.width}x{self.height}"


def data_url(kind: Kind, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def image_size(data: bytes) -> Size | None:
    """Kind and pixels of a picture by its first bytes; None for what is no PNG, JPEG, GIF or WebP."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return Size("png", *struct.unpack(">II", data[16:24]))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return Size("gif", *struct.unpack("<HH", data[6:10]))
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def _webp(data: bytes) -> Size | None:
    match data[12:16]:
        case b"VP8X":
            return Size("webp", 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little"))
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return Size("webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return Size("webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg(data: bytes) -> Size | None:
    """By the first frame header; what stands before it (previews, profiles) is stepped over."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD8:  # padding, and marks without a length
            at += 1 if marker == 0xFF else 2
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return Size("jpeg", width, height)
        at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None


def image_tokens(width: int, height: int) -> int:
    """What a picture of that many pixels costs: its area once the longer side is brought down to 1568."""
    scale = min(1.0, _LONG / max(width, height, 1))
    return max(_LEAST, math.ceil(width * scale * height * scale / _PIXELS))


def sized(estimate: Callable[[bytes], int]) -> Callable[[bytes], int]:
    """`estimate` over serialized messages, with pictures counted by their size and not by their letters."""

    def count(data: bytes) -> int:
        if _MARK not in data:
            return estimate(data)
        pictures = sum(map(_tokens, _URL.findall(data)))
        return estimate(_URL.sub(b"", data)) + pictures

    return count


def _tokens(letters: bytes) -> int:
    for end in (_HEAD * 4 // 3, len(letters)):
        whole = letters[: end - end % 4]
        try:
            size = image_size(base64.b64decode(whole))
        except ValueError:
            return _UNKNOWN
        if size is not None:
            return image_tokens(size.width, size.height)
    return _UNKNOWN
