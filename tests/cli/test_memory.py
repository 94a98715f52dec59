"""`codeagent memory`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from codeagent.core.paths import Home
from tests.cli.conftest import ROOT, Cli, Said
from tests.server.endpoint import JSON, Response, ScriptedEndpoint


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


def test_columns_stay_aligned_with_chinese(cli: Cli, home: Home) -> None:
    entries = [{"id": "a", "type": "偏好", "content": "一"}, {"id": "b", "type": "rule", "content": "two"}]
    home.facts.parent.mkdir(parents=True)
    home.facts.write_text(json.dumps(entries), encoding="utf-8")
    assert cli("memory", "list").out == "a  global  偏好  一\nb  global  rule  two\n"


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


def test_worktrees_share_and_folders_that_look_alike_do_not(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, tree = tmp_path / "一" / "商店", tmp_path / "worktree"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(shop)]
    shop.mkdir(parents=True)
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(tree)]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    alike = [tmp_path / "二" / "商店", tmp_path / "一" / "商 店"]
    monkeypatch.chdir(shop)
    cli("memory", "add", "端口是 5433")
    cli("memory", "add", "--global", "用中文回答")
    for folder, seen in ((tree, 2), *((folder, 1) for folder in alike)):
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(folder)
        assert facts(cli) == [("project", "端口是 5433"), ("global", "用中文回答")][-seen:]


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["rm", "gone"], "codeagent: No fact has the id gone.\n"),
        (["show", "gone"], "codeagent: No fact has the id gone.\n"),
        (["undo"], "codeagent: Nothing that was remembered, forgotten or changed"),
        (["export", "--backend", "tape"], "codeagent: There is no memory backend tape.\n"),
        (["import", "gone.json"], "codeagent: gone.json cannot be read: No such file"),
        (["add", "--type", "mood", "x"], "codeagent: There is no type mood.\n"),
        (["add", "the password=hunter2hunter2"], "codeagent: Not remembered: "),
    ],
)
def test_what_cannot_be_done_is_said(cli: Cli, argv: list[str], sentence: str) -> None:
    said = cli("memory", *argv)
    assert (said.code in (1, 2), said.out) == (True, "")
    assert said.err.startswith(sentence)


def test_a_fact_comes_back(cli: Cli) -> None:
    cli("memory", "add", "one")
    before = cli("memory", "list", "--json").json
    cli("memory", "rm", before[0]["id"])
    assert facts(cli) == []
    assert cli("memory", "undo") == Said(0, "", "Remembered again: one\n")
    assert cli("memory", "list", "--json").json == before


def test_an_edit_is_taken_back(cli: Cli) -> None:
    id = cli("memory", "add", "one", "--json").json["id"]
    before = cli("memory", "list", "--json").json
    cli("memory", "edit", id, "two")
    assert cli("memory", "undo") == Said(0, "", "As it was before: one (not: two)\n")
    assert cli("memory", "list", "--json").json == before


def test_each_change_can_answer_as_json(cli: Cli, tmp_path: Path) -> None:
    saved = cli("memory", "add", "one", "--json").json
    assert (saved["state"], saved["message"]) == ("saved", "Remembered for this project: one")
    assert cli("memory", "edit", saved["id"], "two", "words", "--json").json["state"] == "replaced"
    assert facts(cli) == [("project", "two words")]
    for verb in ("rm", "forget"):
        assert cli("memory", verb, saved["id"], "--json").json["content"] == "two words"
        assert [fact["id"] for fact in cli("memory", "forgotten", "--json").json] == [saved["id"]]
        assert cli("memory", "undo", "--json").json["content"] == "two words"
    copy = tmp_path / "facts.json"
    cli("memory", "export", str(copy))
    assert cli("memory", "import", str(copy), "--json").json == {"added": 0, "known": 1, "refused": 0}


def test_stats_count_what_is_seen(cli: Cli, home: Home) -> None:
    cli("memory", "add", "one")
    cli("memory", "add", "--global", "--type", "rule", "two")
    told = cli("memory", "stats", "--json").json
    assert (told["facts"], told["scopes"], told["types"]) == (2, {"project": 1, "global": 1}, {"fact": 1, "rule": 1})
    assert (told["file"], told["bytes"]) == (str(home.facts), home.facts.stat().st_size)
    assert "scopes        1 project, 1 global" in cli("memory", "stats").out.splitlines()


def test_undo_takes_the_newest_loss_that_can_come_back(cli: Cli) -> None:
    for word in ("one", "two"):
        cli("memory", "forget", cli("memory", "add", word, "--json").json["id"])
    id = cli("memory", "add", "two", "--json").json["id"]
    assert [fact["content"] for fact in cli("memory", "forgotten", "--json").json] == ["one"]
    assert cli("memory", "undo") == Said(0, "", f"No longer remembered: two (undo {id} brings it back)\n")
    assert cli("memory", "undo") == Said(0, "", "Remembered again: two\n")


def test_forgetting_a_global_fact_tells_of_the_copy_it_hid(cli: Cli) -> None:
    copy, everywhere = (cli("memory", "add", "tabs", "--json", *more).json["id"] for more in ((), ("--global",)))
    told = f"Forgotten: tabs\nThis project has a copy of its own, which stays: {copy}\n"
    assert cli("memory", "forget", everywhere) == Said(0, "", told)


# ---- by meaning ------------------------------------------------------------------------------------------------------


@pytest.fixture
def hybrid(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    named = {"MODEL": "m", "CONTEXT_WINDOW": "8000", "EMBEDDING_MODEL": "e", "MEMORY__RETRIEVER": "hybrid"}
    for name, value in named.items():
        monkeypatch.setenv(f"CODEAGENT_{name}", value)
    cli("memory", "add", "the port is 8080")
    return cli


def test_search_finds_by_meaning_where_hybrid_is_set(hybrid: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = Response((json.dumps({"data": [{"embedding": [1, 0]}]}).encode(),), headers=JSON)
    with ScriptedEndpoint(routes={"/v1/embeddings": vectors}) as server:
        monkeypatch.setenv("CODEAGENT_BASE_URL", server.base_url)
        said = hybrid("memory", "search", "端口", "--json")
    assert ([fact["content"] for fact in said.json], said.err) == (["the port is 8080"], "")
    assert sorted(request.json["input"] for request in server.others) == [["the port is 8080"], ["端口"]]


def test_without_embeddings_search_goes_by_words_and_says_so(hybrid: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_EMBEDDING_MODEL", "openai/e")
    monkeypatch.setenv("CODEAGENT_BASE_URL", "")
    said = hybrid("memory", "search", "port", "--json")
    assert [fact["content"] for fact in said.json] == ["the port is 8080"]
    assert said.err.startswith("Facts are found by their words alone, there are no embeddings: ")


# ---- from one place to another ---------------------------------------------------------------------------------------


def test_facts_move_to_another_backend_and_back(cli: Cli, home: Home, tmp_path: Path) -> None:
    cli("memory", "add", "--key", "db", "数据库 is SQLite")
    cli("memory", "add", "--key", "db", "数据库 is Postgres")
    cli("memory", "add", "--global", "tabs")
    cli("memory", "add", "gone")
    cli("memory", "rm", cli("memory", "list", "--json").json[2]["id"])
    before, copy = cli("memory", "export").out, tmp_path / "copies" / "facts.json"
    assert cli("memory", "export", str(copy)) == Said(0, "", f"Wrote 3 facts to {copy}.\n")
    assert (copy.read_text(encoding="utf-8"), copy.stat().st_mode & 0o777) == (before, 0o600)
    assert before == home.facts.read_text(encoding="utf-8")
    cli("config", "set", "memory.backend", "sqlite")
    assert facts(cli) == []
    told = "Took over 3 facts; 0 were there already, 0 are not kept.\n"
    assert cli("memory", "import", str(copy)) == Said(0, "", told)
    assert cli("memory", "export").out == before
    told = "Took over 0 facts; 3 were there already, 0 are not kept.\n"
    assert cli("memory", "import", str(copy)) == Said(0, "", told)
    assert cli("memory", "undo") == Said(0, "", "The import is taken back: 2 facts changed with it.\n")
    assert facts(cli) == []
    assert cli("memory", "export", "--backend", "json_file").out == before
    assert (home.facts.parent / "long_term_memory.db").exists()


def test_secrets_are_not_taken_over_and_a_bare_list_is(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text(json.dumps([{"content": "use tabs"}, {"content": "password=hunter2hunter2"}]), encoding="utf-8")
    assert cli("memory", "import", str(file)).err == "Took over 1 facts; 0 were there already, 1 are not kept.\n"
    assert facts(cli) == [("global", "use tabs")]


@pytest.mark.parametrize("data", ["", "{", "42", '{"entries": 5}'])
def test_what_holds_no_facts_is_refused(cli: Cli, tmp_path: Path, data: str) -> None:
    file = tmp_path / "facts.json"
    file.write_text(data, encoding="utf-8")
    said = cli("memory", "import", str(file))
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"codeagent: {file} holds no facts: ")


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([{"content": "a"}, {"type": "rule"}], "Entry 2 of {file} has no content; nothing was imported."),
        ([{"content": "a"}, 5], "Entry 2 of {file} has no content; nothing was imported."),
        (
            [{"content": "a", "type": "mood"}],
            "Entry 1 of {file} has the unknown type 'mood', not one of fact,",
        ),
        (
            [{"content": "a", "scope": ["all"]}],
            "Entry 1 of {file} has the unknown scope ['all'], not one of pro",
        ),
        ({"entries": [], "forgotten": [{"content": "a"}, {}]}, "Forgotten entry 2 of {file} has no content; nothing "),
    ],
)
def test_an_entry_that_is_none_lets_nothing_in(cli: Cli, tmp_path: Path, entries: object, sentence: str) -> None:
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(entries), encoding="utf-8")
    said = cli("memory", "import", str(file))
    assert (said.code, said.out, facts(cli)) == (1, "", [])
    assert said.err.startswith(f"codeagent: {sentence.format(file=file)}")


def test_expired_facts_are_marked(cli: Cli, home: Home) -> None:
    home.facts.parent.mkdir(parents=True)
    home.facts.write_text('[{"id":"a","content":"一","expires":"2020-01-01"},{"id":"b","content":"two"}]')
    assert cli("memory", "list").out == "a  global  fact  (expired) 一\nb  global  fact  two\n"
    assert "expires  2020-01-01, expired" in cli("memory", "show", "a").out.splitlines()
    assert cli("memory", "search", "一").out == ""


def test_facts_left_in_another_backend_are_told_of(cli: Cli) -> None:
    cli("memory", "add", "one")
    cli("config", "set", "memory.backend", "sqlite")
    cli("memory", "add", "two")
    said = cli("memory", "list")
    assert "two" in said.out
    assert said.err.startswith("1 fact in ") and "export FILE --backend json_file" in said.err


def test_a_long_list_is_paged_on_a_terminal(cli: Cli) -> None:
    for number in range(12):
        cli("memory", "add", f"fact {number}")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PAGER": "sed s/^/paged:/", "TERM": "xterm"}
    shown = pexpect.run(
        f"{sys.executable} -m codeagent memory list", env=environ, withexitstatus=False, timeout=60, encoding="utf-8"
    )
    assert "paged:" not in shown and "fact 11" in shown
    child = pexpect.spawn(
        sys.executable, ["-m", "codeagent", "memory", "list"], env=environ, dimensions=(10, 80), encoding="utf-8"
    )
    child.expect(pexpect.EOF, timeout=60)
    assert str(child.before).count("paged:") == 12


def test_a_file_that_cannot_be_read_is_a_failure_of_one_sentence(cli: Cli, home: Home) -> None:
    home.facts.parent.mkdir(parents=True)
    home.facts.write_text('{"version": 2, "entries": []}')
    sentence = f"The memory file {home.facts} was written by a newer version of codeagent."
    assert cli("memory", "list") == Said(1, "", f"codeagent: The memory file cannot be read: {sentence}\n")
    home.facts.unlink()
    os.mkfifo(home.facts)
    sentence = f"codeagent: The memory file cannot be read: {home.facts} is not a regular file.\n"
    assert cli("memory", "list") == Said(1, "", sentence)
    assert cli("memory", "add", "x").code == 1
