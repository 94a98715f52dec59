"""Pictures on disk, made fit for endpoints."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from codeagent.core.images import image_size
from codeagent.core.tools import ToolResult
from codeagent.history.archive import SessionArchive
from tests.pictures import drawn, png
from tests.tools.world import World


@pytest.fixture
def seeing(world: World) -> World:
    world.ctx = replace(world.ctx, sees=True)
    return world


def sent(result: ToolResult) -> bytes:
    (image,) = result.images
    return base64.b64decode(image.url.partition(",")[2])


@pytest.mark.parametrize("data", [png(), drawn("JPEG"), drawn("GIF"), drawn("WEBP"), png(2_000, 1)])
async def test_what_fits_is_sent_as_it_is(seeing: World, data: bytes) -> None:
    seeing.file("图 1.png", data)
    result = await seeing.run("read_file", path="图 1.png")
    size = image_size(data)
    assert size is not None
    about = f"图 1.png: {size.kind.upper()}, {size.width}x{size.height}, {len(data):,} bytes"
    assert (result.text, result.failed, sent(result)) == (f"Image {about}. It follows the results.", False, data)
    (kept,) = seeing.ctx.archive.folder.iterdir()
    assert (kept.suffix, kept.read_bytes()) == (f".{size.kind}", data)
    assert result.images[0].caption == f"[image {about}; kept in {kept}]"


@pytest.mark.parametrize(
    ("data", "kind", "width", "height"),
    [
        (png(4_000, 1_000), "png", 2_000, 500),
        (drawn("JPEG", 1_000, 3_000), "jpeg", 667, 2_000),
        (drawn("BMP", 30, 20), "png", 30, 20),
        (drawn("TIFF", 30, 20), "png", 30, 20),
        (drawn("PNG", 30, 20, mode="P"), "png", 30, 20),
        (drawn("WEBP", 2_100, 2_100, mode="RGBA"), "png", 2_000, 2_000),
    ],
)
async def test_what_is_too_large_or_of_another_kind_is_made_fit(
    seeing: World, data: bytes, kind: str, width: int, height: int
) -> None:
    seeing.file("a.bmp", data)
    size = image_size(sent(await seeing.run("read_file", path="a.bmp")))
    assert size is not None
    assert (size.kind, size.width, size.height) == (kind, width, height)


async def test_no_picture_is_sent_with_too_many_bytes(seeing: World) -> None:
    seeing.file("noise.png", drawn("PNG", 1_300, 1_300, noise=True))
    data = sent(await seeing.run("read_file", path="noise.png"))
    size = image_size(data)
    assert size is not None
    assert (size.kind, len(data) < 3_750_000) == ("jpeg", True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (png(2_001, 1)[:60], "cannot be decoded"),
        (png(20_000, 6_000)[:100], "too large to be shown"),
        (b"BM\0\0\0\0garbage", "cannot be decoded"),
    ],
)
async def test_what_cannot_be_shown_is_described(seeing: World, data: bytes, reason: str) -> None:
    seeing.file("a.bmp", data)
    result = await seeing.run("read_file", path="a.bmp")
    assert (result.failed, result.images, result.summary) == (False, (), "image, not shown")
    assert result.text.startswith("Image a.bmp: ") and reason in result.text


async def test_a_disk_that_refuses_costs_the_copy_alone(seeing: World) -> None:
    seeing.file("a.png", png())
    seeing.ctx = replace(seeing.ctx, archive=SessionArchive(seeing.top / "a.png" / "s.jsonl"))
    result = await seeing.run("read_file", path="a.png")
    assert (sent(result), "kept in" in result.images[0].caption) == (png(), False)
