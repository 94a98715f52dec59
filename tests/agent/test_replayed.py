"""Runs of the benchmarks, replayed: what they print holds for one run at least."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import prefix, survival
from benchmarks._replay import Recording, recording
from benchmarks._runs import made
from codeagent.core.tokens import estimate_classes


@pytest.fixture
def played() -> Recording:
    return recording(made(estimate_classes, 1)[0])


async def test_nothing_is_lost_in_a_small_window(played: Recording, words: Path) -> None:
    counts = await survival.replay(played, 16_000, survival.SUMMARIES["platitudes"], words)
    assert (counts["requests"], counts["invalid"], counts["over"], counts["failed"]) == (len(played.acts) + 1, 0, 0, 0)
    assert (counts["compacted"] >= 3, counts["wanted"] > 50, counts["lost"]) == (True, True, 0)
    assert counts["asked"] > 30 and counts["recalled"] >= 0.99 * counts["asked"]


async def test_each_request_begins_with_the_one_before_it(played: Recording, words: Path, tmp_path: Path) -> None:
    watch = await prefix.replay(played, 16_000, tmp_path, words)
    counts = watch.counts
    assert (counts["whole"], counts["same"]) == (counts["pairs"], counts["bytes"])
    assert [
        name for name in ("pairs", "compacted", *prefix.SIGNS.keys() - {"reminders"}, "typed") if not counts[name]
    ] == []
    assert counts["summed"] > 0.9 * counts["asked"]
