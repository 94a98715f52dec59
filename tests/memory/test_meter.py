"""How large the next request will be."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.entries import Prompt, Usage
from codeagent.core.tokens import estimate_classes
from codeagent.memory.calibration import Calibration
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


def test_anchoring_can_be_switched_off() -> None:
    talk = Talk().turns(1, 2)
    without = TokenMeter(estimate_classes).request(talk)
    talk.anchor = Anchor(Usage(5_000, 70), 6)
    loose, firm = TokenMeter(estimate_classes, anchored=False), TokenMeter(estimate_classes)
    assert (loose.request(talk), loose.estimated(talk), firm.estimated(talk)) == (without, True, False)


def test_what_was_learned_corrects_the_estimate_but_not_the_anchor(tmp_path: Path) -> None:
    calibration, talk = Calibration(tmp_path / "calibration.json"), Talk().turns(1, 4)
    meter = TokenMeter(estimate_classes, calibration, "here")
    plain = meter.request(talk), meter.fixed(talk.prompt)
    for _ in range(200):
        calibration.learn("here", 1_500, 1_000)
    new = sum(entry.tokens for entry in talk.entries[10:])
    talk.anchor = Anchor(Usage(5_000, 70), 10)
    assert meter.request(talk) == 5_000 + round(meter.factor * new)
    talk.anchor = None
    assert (meter.request(talk), meter.fixed(talk.prompt)) == tuple(round(meter.factor * count) for count in plain)
    assert 1.49 < meter.factor < 1.51
    assert TokenMeter(estimate_classes, calibration, "elsewhere").request(talk) == plain[0]


def test_it_learns_from_the_growth_between_two_usages(tmp_path: Path) -> None:
    calibration, talk = Calibration(tmp_path / "calibration.json"), Talk().turns(1, 4)
    meter = TokenMeter(estimate_classes, calibration, "here")
    first, second = Anchor(Usage(5_000, 70), 6), Anchor(Usage(5_600, 70), 12)
    talk.anchor = second
    for before in (None, Anchor(Usage(0, 0), 6)):
        meter.learn(before, talk)
    assert meter.factor == 1.0
    meter.learn(first, talk)
    expected = Calibration(tmp_path / "other.json")
    expected.learn("here", 600, sum(entry.tokens for entry in talk.entries[6:12]))
    assert calibration.factor("here") == expected.factor("here")
    meter.save()
    assert Calibration(tmp_path / "calibration.json").factor("here").value == meter.factor
