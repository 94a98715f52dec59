"""Text out of the bytes of a file that a person wrote, with whatever editor."""

from __future__ import annotations


def decode(data: bytes) -> str | None:
    """Text in UTF-8, UTF-16 with a mark, or GB18030; None for what is no text. A last character may be cut in two."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "ignore")
    if b"\0" in data:
        return None
    for encoding in ("utf-8-sig", "gb18030"):
        for end in range(4):
            try:
                return data[: len(data) - end].decode(encoding)
            except UnicodeDecodeError:
                continue
    return None
