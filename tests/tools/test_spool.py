"""What is kept of long output, in memory and on disk."""

from __future__ import annotations

import pytest

from codeagent.tools.spool import Spool


@pytest.mark.parametrize(
    ("count", "ends", "whole"),
    [
        (3, b"00 01 02 ", b"00 01 02 "),
        (6, b"00 01 02 03 04 05 ", b"00 01 02 03 04 05 "),
        (9, b"00 01 02 \n[... 9 bytes not kept ...]\n06 07 08 ", b"00 01 02 03 04 05 06 07 08 "),
        (14, b"00 01 02 \n[... 24 bytes not kept ...]\n11 12 13 ",
         b"00 01 02 03 04 05 06 07 08 09 \n[... 3 bytes not kept ...]\n11 12 13 "),
    ],
)  # fmt: skip
def test_both_ends_are_in_memory_and_the_whole_on_disk(count: int, ends: bytes, whole: bytes) -> None:
    spool = Spool(head=9, tail=9, whole=30)
    for number in range(count):
        spool.add(b"%02d " % number)
    assert (spool.since(), b"".join(spool.pieces())) == (ends, whole)


def test_pieces_begin_and_end_where_they_were_asked_for() -> None:
    spool = Spool(head=9, tail=9, whole=30)
    for number in range(5):
        spool.add(b"%02d " % number)
    pieces = spool.pieces(6)
    spool.add(b"later")
    assert b"".join(pieces) == b"02 03 04 "


def test_the_newest_bytes_are_had_without_the_others() -> None:
    spool = Spool(head=9, tail=9, whole=30)
    for number in range(14):
        spool.add(b"%02d " % number)
    assert [spool.since(offset) for offset in (34, 38, 41, 42)] == [b"1 12 13 ", b" 13 ", b" ", b""]
