"""`codeagent memory`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Said


def facts(cli: Cli) -> list[tuple[str, str]]:
    return [(fact["scope"], fact["content"]) for fact in cli("memory", "list", "--json").json]


def test_facts_are_added_listed_found_shown_and_forgotten(cli: Cli) -> None:
    assert cli("memory", "list") == Said(0, "", "Nothing is remembered that fits here.\n")
    cli("memory", "add", "测试", "uses", "pytest")
    cli("memory", "add", "--global", "--type", "preference", "answer in Chinese")
    assert facts(cli) == [("project", "测试 uses pytest"), ("global", "answer in Chinese")]
    found = cli("memory", "search", "测试", "--json").json
    assert [fact["content"] for fact in found] == ["测试 uses pytest"]
    id = found[0]["id"]
    assert cli("memory", "show", id[:4], "--json").json == found[0]
    assert cli("memory", "show", id).out.splitlines()[:2] == ["测试 uses pytest", f"id       {id}"]
    assert cli("memory", "rm", id) == Said(0, "", "Forgotten: 测试 uses pytest\n")
    assert facts(cli) == [("global", "answer in Chinese")]


def test_columns_stay_aligned_with_chinese(cli: Cli) -> None:
    cli("memory", "add", "--type", "偏好", "一")
    cli("memory", "add", "--type", "rule", "two")
    first, second = cli("memory", "list").out.splitlines()
    assert (first[8:], second[8:]) == ("  project  偏好  一", "  project  rule  two")


def test_a_key_replaces_and_keeps_what_stood_there(cli: Cli) -> None:
    cli("memory", "add", "--key", "db", "the database is SQLite")
    cli("memory", "add", "--key", "db", "the database is Postgres")
    (fact,) = cli("memory", "list", "--json").json
    assert (fact["content"], [old["content"] for old in fact["versions"]]) == (
        "the database is Postgres",
        ["the database is SQLite"],
    )
    assert cli("memory", "show", fact["id"]).out.splitlines()[-1].endswith("the database is SQLite")


def test_one_project_does_not_see_anothers(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("memory", "add", "mine")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert facts(cli) == []


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["rm", "gone"], "codeagent: No fact has the id gone.\n"),
        (["show", "gone"], "codeagent: No fact has an id that begins with gone.\n"),
        (["add", "the password=hunter2hunter2"], "codeagent: Not remembered: "),
    ],
)
def test_what_cannot_be_done_is_said(cli: Cli, argv: list[str], sentence: str) -> None:
    said = cli("memory", *argv)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(sentence)
