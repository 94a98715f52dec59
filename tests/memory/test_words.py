"""What counts as agreeing and as laying something down, over what people write: one case a line of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.memory.assent import assents
from codeagent.memory.chinese import simplified
from codeagent.memory.rules import lays_down, rules

CASES = Path(__file__).parent / "cases"


def cases(name: str) -> list[str]:
    return (CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_there_are_cases_enough() -> None:
    counts = {name: len(cases(name)) for name in ("assents", "no_assents", "rules", "no_rules")}
    assert {name: count for name, count in counts.items() if count < 200} == {}


def test_who_agrees_is_understood() -> None:
    assert [text for text in cases("assents") if not assents(text)] == []


def test_who_does_not_agree_is_not_taken_at_his_word() -> None:
    assert [text for text in cases("no_assents") if assents(text)] == []


def test_what_is_laid_down_is_recognised() -> None:
    assert [text for text in cases("rules") if not lays_down(text)] == []


def test_questions_reports_and_code_lay_nothing_down() -> None:
    assert [text for text in cases("no_rules") if lays_down(text)] == []


def test_a_rule_is_the_sentence_and_not_what_stands_around_it() -> None:
    text = "Hello. You must not push!\n1. 不要改 vendor/。然后继续。 It is fine.\n- Leave db/ alone."
    assert rules(text) == ["You must not push!", "不要改 vendor/。", "Leave db/ alone."]


@pytest.mark.parametrize("end", ["Never mind.", "以上。"])
def test_a_very_long_message_agrees_by_its_beginning(end: str) -> None:
    assert assents("好，就这样。" + "Further words follow here. " * 9_000 + end)


@pytest.mark.parametrize("text", ["", "  \n", "。", "...", "\ufe0f", "「」", "?", "👎", "\U0001f600"])
def test_what_says_nothing_agrees_to_nothing(text: str) -> None:
    assert (assents(text), rules(text)) == (False, [])


def test_traditional_characters_keep_their_places() -> None:
    text = "必須用英文，請勿改動 vendor/。"
    assert (simplified(text), len(simplified(text))) == ("必须用英文，请勿改动 vendor/。", len(text))
