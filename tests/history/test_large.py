"""Files far larger than what the next request carries: opened in one pass, with memory for the request alone."""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from codeagent.history.history import History
from codeagent.history.sessions import open_session
from tests.history.support import answer, ask, begin, reply, say, summary


def grow(folder: Path, megabytes: int) -> History:
    """A session of that size: turns of four calls with 8 kB each, all but the newest folded every 20 turns."""
    history = begin(folder)
    output = ("def f(x):\n    return 'é你好' + \"\\n\" * x\n" * 180)[:8000]
    while not history.path.exists() or history.path.stat().st_size < megabytes * 1_000_000:
        say(history, "and now this")
        calls = [f"{history.turn}-{number}" for number in range(4)]
        ask(history, *calls)
        for call in calls:
            answer(history, call, output)
        reply(history, "Done.")
        if history.turn % 20 == 0:
            history.fold(summary(history.entries[:-7], "What was done so far."))
    history.close()
    return history


async def opened(path: Path, *undo: str) -> tuple[History, float]:
    """The session, and the most megabytes that opening it took at any moment."""
    tracemalloc.start()
    start = time.perf_counter()
    history = await open_session(path)
    for id in undo:
        await history.undo(id)
    seconds, (_, most) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    history.close()
    sys.stdout.write(f"{path.stat().st_size / 1e6:.0f} MB: {seconds:.2f} s, {most / 1e6:.1f} MB\n")
    return history, most / 1e6


async def test_memory_follows_the_request_not_the_file(tmp_path: Path) -> None:
    history = grow(tmp_path, 30)
    again, most = await opened(history.path)
    assert (again.entries, again.notices) == (history.entries, ())
    assert most < 10


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_three_hundred_megabytes(tmp_path: Path) -> None:
    history = grow(tmp_path, 300)
    again, most = await opened(history.path)
    assert (again.entries, again.notices) == (history.entries, ())
    assert most < 20
    assert history.receipt is not None
    again, most = await opened(history.path, history.receipt.id)
    assert again.entries[-7:] == history.entries[-7:]
    assert most < 20
