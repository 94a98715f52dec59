"""Faults as `llmock` makes them, and its verdict on how they were borne."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codeagent.core.events import Replied, Retrying, ToolFinished
from tests.agent._world import ended, events
from tests.outside._opening import opened

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

pytestmark = pytest.mark.outside

FAULTS: dict[str, tuple[Callable[[LLMock], object], int]] = {
    # name: (the fault, how often it is tried again)
    "rate limit": (lambda server: server.rate_limit(times=2, retry_after=0.2), 2),
    "overload": (lambda server: server.fail(503), 1),
    "disconnect": (lambda server: server.disconnect(after_chunks=2), 1),
    "truncated": (lambda server: server.truncate(after_chunks=2), 1),
    "garbled": (lambda server: server.corrupt(after_chunks=2), 1),
    "stall": (lambda server: server.stall(after_chunks=2, seconds=3.0), 1),
    "slow to begin": (lambda server: server.slow_first_token(1.0), 0),
    "slow": (lambda server: server.pace(20), 0),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_in_passing_is_borne(llmock: LLMock, tmp_path: Path, fault: str) -> None:
    make, again = FAULTS[fault]
    llmock.tool_mode("off")
    make(llmock)
    desk = await opened(tmp_path, llmock.base_url(), "[network]\nidle = 1.0\n")
    seen = await events(desk.session.run_turn("你好"))
    await desk.session.aclose()
    assert (ended(seen).reason, len([event for event in seen if isinstance(event, Retrying)])) == ("done", again)
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_refusal_for_good_is_not_tried_again(llmock: LLMock, tmp_path: Path, status: int) -> None:
    llmock.fail(status, times=None)
    desk = await opened(tmp_path, llmock.base_url())
    seen = await events(desk.session.run_turn("hi"))
    await desk.session.aclose()
    posted = [one for one in llmock.requests if one.path.endswith("/chat/completions")]
    assert (ended(seen).reason, len(posted)) == ("failed", 1)
    llmock.assert_resilient(strict=True)


async def test_tools_are_called_and_their_results_go_back(llmock: LLMock, tmp_path: Path) -> None:
    llmock.call_tool("read_file", {"path": "a.py"})
    desk = await opened(tmp_path, llmock.base_url())
    seen = await events(desk.session.run_turn("read it"))
    await desk.session.aclose()
    (result,) = [event.result for event in seen if isinstance(event, ToolFinished)]
    assert ("x = 1" in result.text, ended(seen).reason) == (True, "done")
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
async def test_a_broken_call_is_told_to_the_model(llmock: LLMock, tmp_path: Path, kind: str) -> None:
    llmock.call_tool("read_file", {"path": "a.py"}).break_tool_call(kind)
    desk = await opened(tmp_path, llmock.base_url())
    seen = await events(desk.session.run_turn("read it"))
    await desk.session.aclose()
    results = [event.result.failed for event in seen if isinstance(event, ToolFinished)]
    assert (results[:1], ended(seen).reason) == ([True], "done")
    assert [event for event in seen if isinstance(event, Replied)]
    llmock.assert_resilient(strict=True)
