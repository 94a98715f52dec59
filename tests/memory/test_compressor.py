"""Map and reduce over short-term entries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.core.errors import CodeAgentError, ModelError, RateLimited
from codeagent.memory.compressor import ContextCompressor
from codeagent.memory.short_term import MemoryEntry


def said(*texts: str) -> list[MemoryEntry]:
    return [MemoryEntry(f"m{number}", "user", text, len(text)) for number, text in enumerate(texts, 1)]


@dataclass
class Model:
    """Answers with the numbers it finds in what it is given, or as it is told for the nth request."""

    answers: dict[int, str | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    running: int = 0
    most: int = 0

    async def __call__(self, messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        (message,) = (json.loads(data) for data in messages)
        assert (message["role"], tools, bool(instruction)) == ("user", b"[]", True)
        self.asked.append(message["content"])
        answer = self.answers.get(len(self.asked))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.001)
        finally:
            self.running -= 1
        if isinstance(answer, Exception):
            raise answer
        return f"<{message['content']}>" if answer is None else answer


def compressor(model: Model, window: int = 10_000, parallel: int = 2) -> ContextCompressor:
    return ContextCompressor(model, len, window=window, parallel=parallel)


async def test_groups_of_five_become_one_summary_each_and_these_one() -> None:
    model = Model({1: "first", 2: "second", 3: "third", 4: "all"})
    assert await compressor(model).compress(said(*"abcdefghijkl")) == "all"
    assert model.asked == [
        "[user] a\n\n[user] b\n\n[user] c\n\n[user] d\n\n[user] e",
        "[user] f\n\n[user] g\n\n[user] h\n\n[user] i\n\n[user] j",
        "[user] k\n\n[user] l",
        "first\n\nsecond\n\nthird",
    ]


async def test_one_group_needs_one_request() -> None:
    model = Model({1: " short \n"})
    assert await compressor(model).compress(said("a", "b")) == "short"
    assert len(model.asked) == 1


@pytest.mark.parametrize("parallel", [1, 2, 4])
async def test_requests_run_side_by_side_in_bounded_number(parallel: int) -> None:
    model = Model(dict.fromkeys(range(1, 20), "x"))
    await compressor(model, parallel=parallel).compress(said(*"abcdefghijklmnopqrstuvwxyz"))
    assert model.most == parallel


async def test_groups_are_split_further_only_beyond_the_window() -> None:
    model = Model(dict.fromkeys(range(1, 20), "s"))
    await compressor(model, window=60).compress(said("a" * 20, "b" * 20, "c" * 130))
    first, *pieces, merged = model.asked
    assert first == f"[user] {'a' * 20}\n\n[user] {'b' * 20}"
    assert "".join(pieces) == f"[user] {'c' * 130}"
    assert all(len(piece) <= 60 for piece in pieces)
    assert merged == "\n\n".join("s" * (len(pieces) + 1))


async def test_summaries_beyond_the_window_are_merged_in_rounds() -> None:
    answers: dict[int, str | Exception] = dict.fromkeys(range(1, 5), "m" * 40) | dict.fromkeys(range(5, 8), "r" * 10)
    model = Model(answers)
    assert (
        await compressor(model, window=90).compress(said(*(letter * 9 for letter in "abcdefghijklmnopqrst")))
        == "r" * 10
    )
    assert model.asked[4:] == ["\n\n".join(["m" * 40] * 2)] * 2 + ["\n\n".join(["r" * 10] * 2)]


async def test_summaries_that_cannot_be_merged_are_a_failure() -> None:
    model = Model(dict.fromkeys(range(1, 99), "m" * 80))
    with pytest.raises(ModelError):
        await compressor(model, window=90).compress(said(*"abcdefghijkl"))


@pytest.mark.parametrize("failure", [RateLimited("slow down"), "", "  \n"])
@pytest.mark.parametrize("place", [1, 2, 3, 4])
async def test_any_failure_fails_the_whole_and_leaves_nothing_running(failure: str | Exception, place: int) -> None:
    model = Model({place: failure})
    with pytest.raises(RateLimited if isinstance(failure, Exception) else ModelError):
        await compressor(model).compress(said(*"abcdefghijkl"))
    assert model.running == 0


@given(st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=40), st.integers(60, 2_000), st.integers(1, 5))
def test_every_character_reaches_the_model_once_in_order(texts: list[str], window: int, parallel: int) -> None:
    model = Model(dict.fromkeys(range(1, 2_000), "s"))
    entries = said(*texts)
    try:
        asyncio.run(compressor(model, window, parallel).compress(entries))
    except CodeAgentError:
        return
    whole = "".join(f"[user] {text}" for text in texts)
    maps = "".join(asked for asked in model.asked).replace("\n\n", "")
    assert maps.startswith(whole.replace("\n\n", ""))
