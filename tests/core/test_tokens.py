"""Token estimates and the thresholds of a context window."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.tokens import (
    ContextBudget,
    ContextProfile,
    estimate_classes,
    estimate_classic,
    estimate_tokens,
)

RUNS = Path(__file__).resolve().parents[3] / "shared" / "data" / "runs.jsonl"


@pytest.mark.parametrize(
    ("window", "target", "result", "cramped"),
    [
        (4_000, 1_250, 250, True),
        (8_000, 2_500, 500, True),
        (16_000, 5_000, 1_000, False),
        (32_000, 10_000, 2_600, False),
        (128_000, 71_250, 12_200, False),
    ],
)
def test_a_small_window_leaves_room_for_several_steps(window: int, target: int, result: int, cramped: bool) -> None:
    budget = ContextBudget(window)
    assert (budget.target, budget.result, budget.cramped) == (target, result, cramped)


@pytest.mark.parametrize(
    ("window", "trigger", "hard_limit", "short_term", "facts", "static"),
    [
        (200_000, 167_000, 180_000, 90_000, 1_000, 25_000),
        (128_000, 95_000, 108_000, 57_600, 640, 16_000),
        (32_000, 20_000, 24_000, 14_400, 160, 4_000),
        (1_000_000, 967_000, 980_000, 450_000, 5_000, 125_000),
        (2_000_000, 1_967_000, 1_980_000, 900_000, 5_000, 250_000),
    ],
)
def test_the_published_numbers(
    window: int, trigger: int, hard_limit: int, short_term: int, facts: int, static: int
) -> None:
    budget = ContextBudget(window)
    assert (budget.trigger, budget.hard_limit, budget.short_term, budget.facts, budget.static) == (
        trigger,
        hard_limit,
        short_term,
        facts,
        static,
    )


@given(st.integers(1_000, 10_000_000))
def test_thresholds_keep_their_order_for_every_window(window: int) -> None:
    budget = ContextBudget(window)
    assert window / 2 < budget.trigger < budget.hard_limit < window
    assert budget.hard_limit + budget.reserve == window
    assert budget.facts + budget.static < budget.trigger


def test_a_profile_is_a_budget() -> None:
    assert ContextProfile is ContextBudget


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("记忆", 2), ("记忆系", 2), ("记忆系统", 3)]
)
def test_the_classic_rule(text: str, tokens: int) -> None:
    assert estimate_classic(text) == tokens


@given(st.text())
def test_an_estimate_is_never_negative_and_any_text_has_one(text: str) -> None:
    assert estimate_tokens(text) >= 0
    assert estimate_classic(text) >= (1 if text else 0)


@given(st.text(), st.text())
def test_more_text_is_more_tokens(text: str, more: str) -> None:
    whole, part = estimate_tokens(text + more), estimate_tokens(text)
    assert whole >= part


def _log() -> str:
    """Lines with times and hexadecimal ids, such as fill a window."""
    digests = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(60)]
    return "\n".join(f"2026-05-01T12:00:{number:02}.123Z req={digest} ok" for number, digest in enumerate(digests))


# Counted with o200k, the tokenizer of current OpenAI models.
COUNTED = {
    "log": (_log(), 3_317),
    "base64": (base64.b64encode(_log().encode()).decode(), 5_267),
    "csv": ("\n".join(f"{n * 7919 % 1000}.{n * 104729 % 10000:04},{n * 31 % 97}.5" for n in range(300)), 2_699),
    "japanese": ("メモリシステムは文脈が圧縮される前後で同じ振る舞いを保つ。ディスクは消えない。" * 12, 432),
    "korean": ("컨텍스트는 휘발성이지만 디스크는 그렇지 않다. 중요한 것은 기록된다." * 12, 264),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_classes_stay_near_the_truth_where_the_classic_rule_does_not(kind: str) -> None:
    text, counted = COUNTED[kind]
    assert 0.7 < estimate_tokens(text) / counted < 1.9
    assert estimate_classic(text) / counted < 0.7


def _agent_runs() -> list[tuple[list[str], int]]:
    """(texts of one request, the provider's count of it): recorded runs where they are at hand, else our samples."""
    if not RUNS.exists():
        return [([text], counted) for text, counted in COUNTED.values()]
    runs = [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]
    return [
        ([message["content"] or "" for message in run["messages"][: usage["message"]]], usage["prompt_tokens"])
        for run in runs
        for usage in run["usage"][-1:]
    ]


def test_classes_beat_the_classic_rule_on_what_agents_say() -> None:
    runs = _agent_runs()

    def error(estimate: Callable[[str], int]) -> float:
        return median(abs(sum(map(estimate, texts)) / counted - 1) for texts, counted in runs)

    assert error(estimate_tokens) < error(estimate_classic)


def test_bytes_and_text_count_alike() -> None:
    assert estimate_classes("记忆 memory 🎉\n".encode()) == estimate_tokens("记忆 memory 🎉\n")
