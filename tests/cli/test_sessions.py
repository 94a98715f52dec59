"""`codeagent sessions`, over sessions of the scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeagent.cli.sessions import age, size
from codeagent.core.paths import Home
from tests.cli.conftest import ROOT, Cli, Said


def say(cli: Cli, text: str, *flags: str) -> str:
    """Have a session; its id."""
    said = cli("--provider", "scripted", "-o", "json", *flags, "-p", text)
    assert said.code == 0, said.err
    return str(said.json["session_id"])


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The model runs a command, then answers with a fence in it."""
    steps = [
        {"text": "Looking.", "calls": [{"name": "shell", "arguments": {"command": "echo '```'; seq 300"}}]},
        {"text": "Done: ```x```"},
    ]
    path = tmp_path / "script.json"
    path.write_text(json.dumps(steps))
    return path


def test_an_empty_project_says_so(cli: Cli) -> None:
    assert cli("sessions", "list") == Said(0, "", "This project has no session yet; --all lists the others'.\n")
    assert cli("sessions", "list", "--all") == Said(0, "", "There is no session yet.\n")
    assert cli("sessions", "list", "--json") == Said(0, "[]\n", "")


def test_a_list_has_the_newest_first_and_names_where_given(cli: Cli, project: Path, home: Home) -> None:
    first = say(cli, "修复测试")
    second = say(cli, "second", "--name", "named")
    os.utime(next(home.history.glob(f"*/{first}.jsonl")), (0, 0))
    listed = cli("sessions", "list", "--json").json
    assert [(one["id"], one["name"], one["first"], one["cwd"]) for one in listed] == [
        (second, "named", "second", str(project)),
        (first, None, "修复测试", str(project)),
    ]
    head, *rows = [line.split() for line in cli("sessions", "list").out.splitlines()]
    assert head == ["ID", "AGE", "SIZE", "WHAT"]
    assert [(row[0], row[-1]) for row in rows] == [(second, "named"), (first, "修复测试")]


def test_all_projects_are_listed_with_their_names(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = say(cli, "here")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    there = say(cli, "there")
    assert [one["id"] for one in cli("sessions", "list", "--json").json] == [there]
    rows = [line.split() for line in cli("sessions", "list", "--all").out.splitlines()[1:]]
    assert {(row[0], row[-2], row[-1]) for row in rows} == {(here, "项目", "here"), (there, "other", "there")}


def test_a_session_is_shown_and_exported_whole(cli: Cli, script: Path, tmp_path: Path) -> None:
    id = say(cli, "look", "--base-url", str(script), "-y")
    shown = cli("sessions", "show", id[:-2]).out
    exported = cli("sessions", "export", id).out
    assert exported.splitlines()[:8] == shown.splitlines()[:8]
    assert [line for line in exported.splitlines() if line.startswith("#")] == [
        "# look",
        "## User",
        "## Assistant",
        "## Assistant",
    ]
    assert "````\n" in exported, "a fence is longer than those inside it"
    assert ("\n299\n" in exported, "\n299\n" in shown) == (True, False)
    roles = [record["message"]["role"] for record in cli("sessions", "show", id, "--json").json["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]
    target = tmp_path / "out.md"
    assert cli("sessions", "export", id, "-o", str(target)) == Said(0, "", "")
    assert target.read_text() == exported


def test_records_are_exported_as_they_are(cli: Cli, home: Home) -> None:
    id = say(cli, "look")
    (file,) = home.history.glob(f"*/{id}.jsonl")
    assert cli("sessions", "export", id, "--format", "jsonl").out == file.read_text()


def test_a_damaged_session_is_mended_in_a_copy(cli: Cli, home: Home) -> None:
    id = say(cli, "look")
    assert cli("sessions", "repair", id).out == "Nothing is wrong with it.\n"
    (file,) = home.history.glob(f"*/{id}.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:2], b'{"v":1,"se\n', *lines[2:]])
    file.write_bytes(damaged)
    found = cli("sessions", "repair", id, "--json").json
    assert ([(fault["kind"], fault["line"]) for fault in found["faults"]][:1], found["mended"]) == (
        [("damaged", 3)],
        f"{id}-mended",
    )
    assert file.read_bytes() == damaged
    assert cli("sessions", "repair", found["mended"]).out == "Nothing is wrong with it.\n"


def test_sessions_are_removed_all_or_none(cli: Cli) -> None:
    first, second = say(cli, "one"), say(cli, "two")
    assert cli("sessions", "rm", first, "gone") == Said(1, "", "codeagent: No session starts with gone.\n")
    assert cli("sessions", "rm", first, second) == Said(0, "", f"Removed {first}.\nRemoved {second}.\n")
    assert cli("sessions", "list", "--json").json == []


def test_sessions_are_searched(cli: Cli, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = say(cli, "不要改 vendor/")
    looked = say(cli, "look", "--base-url", str(script), "-y")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    there = say(cli, "vendor/ 不要改")
    assert [hit["id"] for hit in cli("sessions", "search", "不要", "--json").json] == [f"{there}/m1"]
    assert {hit["id"] for hit in cli("sessions", "search", "不要", "--all", "--json").json} == {
        f"{here}/m1",
        f"{there}/m1",
    }
    hit = cli("sessions", "search", "--all", "--json", "seq", "300").json[0]
    assert (hit["session"], hit["message"], hit["turn"], hit["role"]) == (looked, "m2", 1, "assistant")
    found = cli("sessions", "search", "不要改")
    assert found == Said(0, f"{there}/m1  turn 1  user  now\n    vendor/ 不要改\n", "")
    assert cli("sessions", "search", "--all", "--limit", "1", "不要").err == "The best 1 of 2; --limit shows more.\n"
    assert cli("sessions", "search", "nowhere") == Said(0, "", "Nothing was found.\n")
    assert cli("sessions", "rm", there).code == 0
    assert [hit["id"] for hit in cli("sessions", "search", "不要", "--all", "--json").json] == [f"{here}/m1"]


def test_secrets_are_masked_in_what_is_found(cli: Cli) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3
    id = say(cli, f"the deploy token {token}")
    found = f"{id}/m1  turn 1  user  now\n    the deploy token [secret]\n"
    assert cli("sessions", "search", "deploy") == Said(0, found, "")
    assert [hit["snippet"] for hit in cli("sessions", "search", "deploy", "--json").json] == [
        "the deploy token [secret]"
    ]


def test_a_reader_that_has_seen_enough_is_no_error(cli: Cli, script: Path, home: Home) -> None:
    id = say(cli, "look", "--base-url", str(script), "-y")
    (file,) = home.history.glob(f"*/{id}.jsonl")
    with file.open("ab") as more:  # more than a pipe holds
        more.write((b'{"v":1,"seq":99,"ts":"","type":"note","text":"' + b"x" * 1000 + b'"}\n') * 1000)
    command = f"{sys.executable} -m codeagent sessions export {id} --format jsonl | head -1"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=environ, capture_output=True)
    assert (done.returncode, done.stderr) == (141, b"")
    assert done.stdout.startswith(b'{"v":1,"seq":1,')


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "now"), (59, "now"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (172799, "47 h"), (172800, "2 d")],
)
def test_ages(seconds: float, shown: str) -> None:
    assert age(seconds) == shown


@pytest.mark.parametrize(("bytes", "shown"), [(999, "999 B"), (1000, "1 kB"), (2_500_000, "2.5 MB")])
def test_sizes(bytes: int, shown: str) -> None:
    assert size(bytes) == shown
