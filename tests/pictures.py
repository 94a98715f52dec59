"""Small pictures for tests."""

from __future__ import annotations

import io
import os
import struct
import zlib

from PIL import Image


def png(width: int = 3, height: int = 2) -> bytes:
    """A black picture, written by hand."""
    rows = b"".join(b"\0" * (1 + 3 * width) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def drawn(
    kind: str, width: int = 40, height: int = 30, *, noise: bool = False, mode: str = "RGB", **more: object
) -> bytes:
    """The same by the library; `noise` makes it as large as can be."""
    picture = Image.new(mode, (width, height))
    if noise:
        picture = Image.frombytes("RGB", (width, height), os.urandom(3 * width * height))
    out = io.BytesIO()
    picture.save(out, kind, **more)
    return out.getvalue()
