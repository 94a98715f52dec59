"""When something that failed is tried again."""

from __future__ import annotations

import pytest

from codeagent.memory.breaker import Breaker


def attempts(breaker: Breaker, checks: int) -> str:
    """An x for each check at which it was tried, and failed."""
    seen = ""
    for _ in range(checks):
        if ready := breaker.ready():
            breaker.failed()
        seen += "x" if ready else "."
    return seen


@pytest.mark.parametrize(
    ("retry_after", "seen"),
    [(10, "xxx.........x.........x"), (3, "xxx..x..x..x..x..x..x.."), (1, "x" * 23), (0, "x" * 23)],
)
def test_after_three_failures_it_is_tried_rarely(retry_after: int, seen: str) -> None:
    assert attempts(Breaker(retry_after), len(seen)) == seen


def test_a_success_forgets_the_failures() -> None:
    breaker = Breaker(10)
    assert attempts(breaker, 2) == "xx"
    breaker.succeeded()
    assert attempts(breaker, 5) == "xxx.."
