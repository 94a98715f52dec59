"""What the person reads of an event."""

from __future__ import annotations

import pytest

from codeagent.core.entries import Compaction
from codeagent.core.events import told


@pytest.mark.parametrize(
    ("receipt", "line"),
    [
        (Compaction("c1", 1, "m9", (), 10_580, 900), "Context compacted: 10.6k → 900 tokens; /compact show"),
        (
            Compaction("c1", 4, "m9", (), 12_300, 4_100, held=12, repaired=("不要改 vendor/。",), failure="No answer."),
            "Context compacted: 12.3k → 4.1k tokens; 12 agreements held, 1 put back; no summary: No answer; "
            "/compact show",
        ),
    ],
)
def test_a_compaction_is_told_in_one_line(receipt: Compaction, line: str) -> None:
    assert str(told(receipt)) == line
