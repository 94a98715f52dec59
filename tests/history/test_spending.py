"""What sessions have cost, by session, model and day."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.entries import Usage
from codeagent.history.spending import Sum, Use, add_up, uses_in
from tests.history.support import INFO, begin, lines, say


def session(path: Path, *records: str) -> Path:
    head = '{"v":1,"seq":1,"ts":"2026-11-30T12:00:00.000Z","type":"session","id":"s","project_id":"p","model":"big"}'
    path.write_text("\n".join((head, *records)) + "\n")
    return path


def usage(seq: int, prompt: int, cost: float | None = None, model: str = "", day: str = "2026-11-30") -> str:
    more = f',"cost_usd":{cost}' * (cost is not None) + f',"model":"{model}"' * bool(model)
    head = f'{{"v":1,"seq":{seq},"ts":"{day}T12:00:00.{seq:03}Z","type":"usage","message":"m{seq}"'
    return f'{head},"prompt_tokens":{prompt},"completion_tokens":2,"cached_tokens":1{more}}}'


def test_each_answer_is_read_with_its_model_and_price(tmp_path: Path) -> None:
    path = session(tmp_path / "a.jsonl", usage(2, 10, 0.5), usage(3, 20, model="small", day="2026-12-01"))
    assert list(uses_in([path])) == [
        Use("2026-11-30", "a", "big", Usage(10, 2, 1), 0.5),
        Use("2026-12-01", "a", "small", Usage(20, 2, 1)),
    ]


def test_what_a_fork_took_over_counts_once(tmp_path: Path) -> None:
    first = session(tmp_path / "a.jsonl", usage(2, 10))
    fork = session(tmp_path / "b.jsonl", usage(2, 10), usage(3, 10))
    assert [use.session for use in uses_in([first, fork])] == ["a", "b"]


@pytest.mark.parametrize("garbage", ["", "{", '{"type":"usage"}', usage(2, 1).replace("1,", '"x",'), usage(2, 1)[:-9]])
def test_what_cannot_be_read_is_passed_over(tmp_path: Path, garbage: str) -> None:
    path = session(tmp_path / "a.jsonl", garbage, usage(3, 30))
    assert [use.usage.prompt_tokens for use in uses_in([tmp_path / "gone.jsonl", path])] == [30]


def test_sums_say_what_is_not_known(tmp_path: Path) -> None:
    uses = [Use("d", one, "m", Usage(10, 2, 1), cost) for one, cost in (("a", 0.5), ("b", 0.25), ("b", None))]
    assert add_up(uses, lambda use: use.session) == {
        "a": Sum(1, 10, 1, 2, 0.5, 0, frozenset("a")),
        "b": Sum(2, 20, 2, 4, 0.25, 1, frozenset("b")),
    }
    total = add_up(uses, lambda use: "all")["all"]
    assert (total.money, add_up(uses[2:], lambda use: "all")["all"].money) == ("$0.7500 + unknown", "not known")


def test_another_model_than_the_first_is_named_in_the_file(tmp_path: Path) -> None:
    history = begin(tmp_path)
    entry = say(history, "hi")
    history.report(Usage(10, 2), entry.id, 9, 0.5, INFO.model)
    history.report(Usage(20, 2), entry.id, 9, None, "other")
    history.spend(Usage(30, 2), None, "summary", "small")
    say(history, "and")
    path = history.path
    history.close()
    assert [one.get("model") for one in lines(path) if one["type"] == "usage"] == [None, "other", "small"]
    assert [use.model for use in uses_in([path])] == [INFO.model, "other", "small"]
