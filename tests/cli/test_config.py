"""`codeagent config`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codeagent.core.paths import Home
from tests.cli.conftest import Cli, Said


def test_show_tells_values_and_where_they_came_from(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    cli("config", "set", "model", "模型")
    shown = cli("-y", "config", "show", "--json").json
    assert {key: entry for key, entry in shown.items() if entry["source"] != "default"} == {
        "model": {"value": "模型", "source": str(home.config)},
        "api_key": {"value": "sk-…cdef", "source": "OPENAI_API_KEY"},
        "permission_mode": {"value": "yolo", "source": "flag"},
    }
    lines = cli("config", "show").out.splitlines()
    assert lines[0].split() == ["model", "模型", str(home.config).replace(str(Path.home()), "~")]
    assert "0123456789" not in "".join(lines)


def test_set_get_unset(cli: Cli, home: Home) -> None:
    assert cli("config", "set", "shell.timeout", "5") == Said(0, f"shell.timeout = 5.0  in {home.config}\n", "")
    assert cli("config", "get", "shell.timeout") == Said(0, "5.0\n", "")
    assert cli("config", "get", "shell.timeout", "--json").json == 5.0
    assert cli("config", "get", "effort") == Said(0, "\n", "")
    assert cli("config", "set", "shell.timeout", "--unset").code == 0
    assert cli("config", "get", "shell.timeout").out == "120.0\n"


def test_a_key_is_never_printed_whole(cli: Cli) -> None:
    assert "0123456789" not in cli("config", "set", "api_key", "sk-0123456789abcdef").out
    assert cli("config", "get", "api_key").out == "sk-…cdef\n"


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["get", "modle"], "codeagent: There is no setting modle.\nDid you mean model?\n"),
        (["set", "max_turns", "many"], "codeagent: max_turns: "),
        (["set", "model"], "codeagent: Give a value, or --unset.\n"),
        (["set", "model", "x", "--project", "--local"], "codeagent: --project and --local exclude each other.\n"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, argv: list[str], sentence: str) -> None:
    said = cli("config", *argv)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(sentence)


def test_a_project_is_trusted_as_it_is_now(cli: Cli, project: Path) -> None:
    cli("config", "set", "--project", "base_url", "http://house")
    untrusted = cli("config", "get", "base_url")
    granted = cli("config", "trust")
    assert (untrusted.out, granted.out.splitlines()[0]) == ("\n", "Now allowed: base_url")
    assert cli("config", "get", "base_url").out == "http://house\n"
    cli("config", "set", "--local", "base_url", "http://mine")
    assert cli("config", "get", "base_url").out == "http://mine\n", "what the person changes stays trusted"
    (project / ".code-agent-cli" / "config.toml").write_text('base_url = "http://evil"\n')
    assert cli("config", "get", "base_url").out == "\n"
    assert cli("config", "show").err.startswith(f"The configuration of {project} has changed since you trusted it")
    assert cli("config", "trust", "--remove").out == f"{project} is no longer trusted.\n"
    assert cli("config", "trust", "--remove").out == f"{project} is not trusted.\n"


def test_safe_mode_reads_nothing_of_the_project(cli: Cli) -> None:
    cli("config", "set", "--project", "theme", "light")
    assert [cli(*flags, "config", "get", "theme").out for flags in ([], ["--safe-mode"])] == ["light\n", "default\n"]


def test_path_names_the_files(cli: Cli, home: Home, project: Path) -> None:
    cli("config", "set", "theme", "light")
    assert cli("config", "path", "--json").json == [
        {"path": str(project / ".code-agent-cli" / "config.local.toml"), "exists": False},
        {"path": str(project / ".code-agent-cli" / "config.toml"), "exists": False},
        {"path": str(home.config), "exists": True},
    ]


def test_a_broken_file_can_still_be_found_and_is_named(cli: Cli, home: Home) -> None:
    home.root.mkdir()
    home.config.write_text("model = \n")
    said = cli("config", "show")
    assert (said.code, said.out) == (2, "")
    assert str(home.config) in said.err
    assert cli("config", "path").code == 0


def test_json_is_utf8_on_one_line(cli: Cli) -> None:
    cli("config", "set", "model", "模型")
    out = cli("config", "get", "model", "--json").out
    assert (out, json.loads(out)) == ('"模型"\n', "模型")


def test_a_pipe_in_the_place_of_a_file_is_named_and_not_waited_for(cli: Cli, home: Home, project: Path) -> None:
    home.root.mkdir()
    os.mkfifo(home.config)
    sentence = f"codeagent: {home.config} cannot be read: not a regular file.\n"
    assert cli("config", "show") == Said(2, "", sentence)
    assert cli("config", "set", "theme", "light") == Said(2, "", sentence)
    assert cli("-p", "x") == Said(2, "", sentence)
    home.config.unlink()
    os.mkfifo(home.trust)
    (project / ".code-agent-cli").mkdir()
    os.mkfifo(project / ".code-agent-cli" / "config.local.toml")
    assert cli("--safe-mode", "config", "get", "theme") == Said(0, "default\n", "")
    assert cli("config", "get", "theme").code == 2


def test_trusting_a_folder_names_its_agents_and_ends_when_one_changes(cli: Cli, project: Path) -> None:
    agent = project / ".code-agent-cli" / "agents" / "审查.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("Look twice.", "utf-8")
    assert cli("config", "trust").out.splitlines()[0] == "Now offered as subagents: agents/审查.md"
    (agent.parent.parent / "config.toml").write_text("[memory]\ngit_commit = true\n", "utf-8")
    cli("config", "trust")
    assert cli("config", "get", "memory.git_commit").out == "true\n"
    agent.write_text("Look away.", "utf-8")
    assert cli("config", "get", "memory.git_commit").out == "false\n"


def test_trusting_a_folder_names_the_hooks_that_will_run(cli: Cli, project: Path) -> None:
    folder = project / ".code-agent-cli" / "hooks"
    folder.mkdir(parents=True)
    (folder / "pre_task.sh").write_text("#!/bin/sh\n", "utf-8")
    (folder.parent / "config.toml").write_text("[memory]\ngit_commit = true\n", "utf-8")
    assert cli("config", "get", "memory.git_commit").out == "false\n"
    assert cli("config", "trust").out.splitlines()[:2] == [
        "Now allowed: memory.git_commit",
        "Now run at their moments: hooks/pre_task.sh",
    ]
    assert cli("config", "get", "memory.git_commit").out == "true\n"
    (folder / "on_compact").write_text("#!/bin/sh\n", "utf-8")
    assert cli("config", "get", "memory.git_commit").out == "false\n"


def test_what_nobody_set_is_shown_as_such(cli: Cli) -> None:
    assert cli("config", "show").out.splitlines()[1].split() == ["base_url", "-", "default"]
