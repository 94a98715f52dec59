"""Pictures on disk, made fit for a model: of a kind and a size that every endpoint takes, and kept in the archive."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from codeagent.core.errors import StoreError
from codeagent.core.images import Image, Size, data_url, image_size
from codeagent.core.ports import Archive
from codeagent.tools.base import ToolFault

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic"})
_OTHERS = (b"BM", b"\0\0\1\0", b"II*\0", b"MM\0*")
"""How BMP, ICO and TIFF begin."""
_BYTES = 3_750_000
"""What endpoints take of one picture, before it is written in letters."""
_SIDE = 2_000
"""Pixels to which a longer side is brought down."""
_LONGEST = 8_000
"""Pixels of a side that endpoints take as it is."""
_LARGEST = 50_000_000
_PIXELS = 100_000_000
"""Bytes and pixels of what is looked into at all."""
_EXTRA = "pip install 'codeagent[images]' makes such pictures fit"


def is_picture(path: Path, head: bytes) -> bool:
    """Whether a file is one that is looked at, by its first bytes, or by its name where they are not text."""
    if image_size(head) is not None:
        return True
    return path.suffix.lower() in SUFFIXES and (b"\0" in head or head.startswith(_OTHERS))


def describe(name: str, data: bytes, bytes_: int) -> str:
    """What a picture is, in a few words; `data` may be its first part alone."""
    size = image_size(data)
    about = str(size) if size else Path(name).suffix.lower().lstrip(".").upper() or "unknown kind"
    return f"{name}: {about}, {_counted(bytes_)}"


def load_picture(path: Path, name: str, archive: Archive) -> Image:
    """The picture at `path`, called `name`; what a model is shown is kept. Blocks.

    Raises:
        ToolFault: it cannot be shown; the sentence says what it is and why.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    about = describe(name, data, path.stat().st_size)
    if len(data) > _LARGEST:
        raise ToolFault(f"{about}: too large to be shown.", "too large")
    kind, shown = _fitted(data, about)
    return Image(f"[image {about}{_kept(path, kind, shown, archive)}]", data_url(kind, shown))


def _kept(path: Path, kind: str, data: bytes, archive: Archive) -> str:
    """Where it is from now on; what comes out of the archive is there."""
    if path.parent == archive.folder:
        return f"; kept in {path}"
    try:
        return f"; kept in {archive.folder / archive.put_file(path.stem, f'.{kind}', data)}"
    except StoreError:
        return ""


def _fitted(data: bytes, about: str) -> tuple[str, bytes]:
    size = image_size(data)
    if size and len(data) <= _BYTES and max(size.width, size.height) <= _SIDE:
        return size.kind, data
    library = _library()
    if library is None:
        if size and len(data) <= _BYTES and max(size.width, size.height) <= _LONGEST:
            return size.kind, data
        raise ToolFault(f"{about}: not shown, it is too large or of a kind that endpoints refuse; {_EXTRA}.", "not fit")
    if size and size.width * size.height > _PIXELS:
        raise ToolFault(f"{about}: too large to be shown.", "too large")
    return _reduced(library, data, size, about)


def _reduced(library: Any, data: bytes, size: Size | None, about: str) -> tuple[str, bytes]:
    """As PNG where that is small enough, else as JPEG in ever smaller sizes."""
    try:
        with library.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > _PIXELS:
                raise ToolFault(f"{about}: too large to be shown.", "too large")
            picture = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
        picture.thumbnail((_SIDE, _SIDE))
        if (size is None or size.kind != "jpeg") and len(made := _saved(picture, "PNG")) <= _BYTES:
            return "png", made
        flat = picture.convert("RGB")
        while len(made := _saved(flat, "JPEG")) > _BYTES:
            flat.thumbnail((flat.width // 2, flat.height // 2))
        return "jpeg", made
    except (OSError, ValueError, SyntaxError, MemoryError, library.DecompressionBombError) as error:
        raise ToolFault(f"{about}: it cannot be decoded ({error}).", "damaged") from None


def _saved(picture: Any, kind: str) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, optimize=True)
    return out.getvalue()


def _library() -> Any | None:
    """Pillow, where it is installed; loaded here on first use."""
    try:
        from PIL import Image as pillow
    except ImportError:
        return None
    return pillow


def _counted(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1_000:,.0f} kB"
