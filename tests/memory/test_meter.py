"""How large the next request will be."""

from __future__ import annotations

from codeagent.core.entries import Prompt, Usage
from codeagent.core.tokens import estimate_classes
from codeagent.memory.meter import TokenMeter
from tests.memory._world import Anchor, Talk


def test_without_usage_everything_is_estimated() -> None:
    talk = Talk().turns(1, 2)
    fixed = estimate_classes(talk.prompt.system.encode()) + estimate_classes(talk.prompt.tools)
    assert TokenMeter(estimate_classes).request(talk) == fixed + sum(entry.tokens for entry in talk.entries)


def test_with_usage_only_what_came_after_its_request_is_estimated() -> None:
    talk = Talk().turns(1, 2)
    talk.anchor = Anchor(Usage(5_000, 70), 6)
    assert TokenMeter(estimate_classes).request(talk) == 5_000 + talk.entries[6].tokens + talk.entries[7].tokens


def test_a_usage_of_nothing_is_no_usage() -> None:
    talk = Talk().turns(1, 1)
    without = TokenMeter(estimate_classes).request(talk)
    talk.anchor = Anchor(Usage(0, 0), 4)
    assert TokenMeter(estimate_classes).request(talk) == without


def test_another_prompt_counts_anew() -> None:
    meter, talk = TokenMeter(estimate_classes), Talk()
    before = meter.request(talk)
    talk.prompt = Prompt(talk.prompt.system * 100, talk.prompt.tools)
    assert meter.request(talk) == before - estimate_classes(b"You are a coding agent.") + estimate_classes(
        b"You are a coding agent." * 100
    )


def test_what_was_estimated_once_is_not_estimated_again() -> None:
    seen: list[bytes] = []

    def estimate(data: bytes) -> int:
        seen.append(data)
        return len(data)

    meter, talk = TokenMeter(estimate), Talk().turns(1, 3)
    for _ in range(5):
        meter.request(talk)
    assert seen == [talk.prompt.system.encode(), talk.prompt.tools]
