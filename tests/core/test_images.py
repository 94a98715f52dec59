"""Pictures in messages: read by their headers, weighed by their size, described where nobody sees them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.images import Image, Size, data_url, image_size, image_tokens, sized
from codeagent.core.messages import AssistantMessage, UserMessage, blind, encode, from_wire, has_images, to_wire, unseen
from codeagent.core.tokens import estimate_classes
from tests.pictures import drawn, png

SHOT = Image("[image shot.png: PNG, 3x2, 70 bytes]", data_url("png", png()))
PLAN = Image("[image 图.gif: GIF, 40x30]", data_url("gif", drawn("GIF")))


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(1234, 567), Size("png", 1234, 567)),
        (drawn("PNG"), Size("png", 40, 30)),
        (drawn("GIF"), Size("gif", 40, 30)),
        (drawn("JPEG"), Size("jpeg", 40, 30)),
        (drawn("JPEG", progressive=True), Size("jpeg", 40, 30)),
        (drawn("JPEG", exif=b"Exif\0\0" + b"\xff\xc0" * 20_000), Size("jpeg", 40, 30)),
        (drawn("WEBP", lossless=True), Size("webp", 40, 30)),
        (drawn("WEBP", quality=50), Size("webp", 40, 30)),
        (drawn("WEBP", exif=b"Exif\0\0MM"), Size("webp", 40, 30)),
        (drawn("BMP"), None),
        (b"", None),
        (b"\xff\xd8\xff", None),
        (png()[:20], None),
    ],
)
def test_kind_and_size_are_read_from_the_header(data: bytes, size: Size | None) -> None:
    assert image_size(data) == size


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF0000WEBPVP8 ", b"RIFF0000WEBPVP8X", b"\xff\xd8\xff"]),
    st.binary(),
)
def test_garbage_is_no_trouble(head: bytes, rest: bytes) -> None:
    found = image_size(head + rest)
    assert found is None or (found.kind in ("png", "gif", "webp", "jpeg") and min(found.width, found.height) >= 0)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(1, 1, 85), (1_000, 1_000, 1_334), (1_568, 1_568, 3_279), (8_000, 8_000, 3_279), (3_136, 784, 820), (0, 0, 85)],
)
def test_a_picture_weighs_by_its_pixels(width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height) == tokens


@pytest.mark.parametrize(
    "data", [png(1_000, 1_000), drawn("JPEG", 1_000, 1_000, noise=True), drawn("WEBP", 1_000, 1_000)]
)
def test_its_letters_count_nothing(data: bytes) -> None:
    count = sized(estimate_classes)
    message = UserMessage("Look.", (Image("[image a]", data_url("png", data)),))
    bare = encode(message).replace(message.images[0].url.encode(), b"")
    assert abs(count(encode(message)) - count(bare) - 1_334) < 5


def test_what_cannot_be_read_weighs_something_all_the_same() -> None:
    count = sized(estimate_classes)
    odd = encode(UserMessage("", (Image("[image a]", data_url("png", b"no picture at all")),)))
    assert 1_600 <= count(odd) < 1_700
    assert count(b"text") == estimate_classes(b"text")


def test_parts_are_sent_in_order_and_read_back() -> None:
    message = UserMessage("Which one?", (SHOT, PLAN))
    assert to_wire(message) == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Which one?"},
            {"type": "text", "text": SHOT.caption},
            {"type": "image_url", "image_url": {"url": SHOT.url}},
            {"type": "text", "text": PLAN.caption},
            {"type": "image_url", "image_url": {"url": PLAN.url}},
        ],
    }
    assert from_wire(json.loads(encode(message))) == message
    assert to_wire(UserMessage("Plain.")) == {"role": "user", "content": "Plain."}


@given(st.text(), st.lists(st.sampled_from([SHOT, PLAN]), min_size=1))
def test_any_message_with_pictures_is_read_back(text: str, images: list[Image]) -> None:
    message = UserMessage(text.encode("utf-8", "replace").decode(), tuple(images))
    assert from_wire(json.loads(encode(message))) == message


def test_what_others_wrote_is_read_too() -> None:
    wire = {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}, 7, {"text": "a"}],
    }
    assert from_wire(wire) == UserMessage("a", (Image("", "http://x/y.png"),))


def test_whoever_sees_nothing_gets_notes() -> None:
    message = UserMessage("Which one?", (SHOT, PLAN))
    told = f"Which one?\n{SHOT.caption} (not shown here)\n{PLAN.caption} (not shown here)"
    assert message.described == f"Which one?\n{SHOT.caption}\n{PLAN.caption}"
    assert unseen(message) == UserMessage(told)
    assert blind(encode(message)) == encode(UserMessage(told))
    for other in (
        UserMessage("Plain."),
        AssistantMessage('{"type":"image_url",'),
        UserMessage('[{"type":"image_url",'),
    ):
        assert (blind(encode(other)), has_images(encode(other))) == (encode(other), False)
