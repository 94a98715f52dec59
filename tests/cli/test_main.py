"""Flags, errors and exit codes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from codeagent import __version__
from codeagent.cli.argv import COMMANDS, PRINT, RESUME, VALUED
from codeagent.cli.entry import report
from codeagent.cli.main import options_from
from codeagent.cli.main import program as program_of_flags
from codeagent.cli.once import decode, parse_message
from codeagent.cli.surroundings import here
from codeagent.core.errors import UsageError
from codeagent.core.paths import Home
from codeagent.options import Options
from tests.cli.conftest import ROOT, Cli, Said, program

COMMAND: Any = typer.main.get_command(program_of_flags(whole=True))


def options(*argv: str) -> Options:
    with COMMAND.make_context("codeagent", list(argv), resilient_parsing=False) as context:
        return options_from(context.params)


def test_the_argument_rules_know_every_flag() -> None:
    flags = [param for param in COMMAND.params if param.opts]
    valued = {name for param in flags if not getattr(param, "is_flag", False) for name in param.opts}
    assert valued - RESUME == VALUED
    assert {name for param in flags for name in param.opts} >= PRINT
    assert set(COMMAND.commands) == COMMANDS


def test_flags_become_options(home: Home, project: Path, tmp_path: Path) -> None:
    assert options(
        *("--text=fix it", "--print", "-o", "json", "--input-format", "stream-json", "--resume=x", "--fork-session"),
        *("--session-id", "a.b", "--name", "n", "-m", "m", "--base-url", "u", "--small-model", "s", "--effort", "low"),
        *("--approval-mode", "plan", "--allowed-tools", "shell(git log:*),grep", "--allowed-tools", "glob"),
        *("--disallowed-tools", "shell(rm a,b)", "--add-dir", "..", "--max-turns", "3", "--max-budget-usd", "1.5"),
        *("--max-tokens-total", "9", "--timeout", "60", "--system-prompt", "sp", "--append-system-prompt", "ap"),
        *("--safe-mode", "--provider", "scripted", "-v", "--debug"),
    ) == Options(
        cwd=project,
        home=home,
        environ=dict(os.environ),
        text="fix it",
        once=True,
        output="json",
        input="stream-json",
        resume="x",
        fork=True,
        session_id="a.b",
        name="n",
        model="m",
        base_url="u",
        small_model="s",
        effort="low",
        permission_mode="plan",
        allowed_tools=("shell(git log:*)", "grep", "glob"),
        disallowed_tools=("shell(rm a,b)",),
        add_dirs=(tmp_path,),
        max_turns=3,
        max_budget_usd=1.5,
        max_tokens_total=9,
        timeout=60.0,
        system_prompt="sp",
        append_system_prompt="ap",
        safe_mode=True,
        provider="scripted",
        verbose=True,
        debug=True,
    )


def test_nothing_said_is_the_world_alone(home: Home, project: Path) -> None:
    assert options() == here() == Options(cwd=project, home=home, environ=dict(os.environ))


def test_yolo_is_a_mode(home: Home) -> None:
    assert options("-y").flags() == {"permission_mode": "yolo"}
    assert options("--no-mask").flags() == {"secrets.mask": False}


@pytest.mark.parametrize(
    "argv",
    [
        ["--no-such-flag"],
        ["-m"],
        ["--effort", "huge"],
        ["--max-turns", "0", "x"],
        ["--add-dir", "gone", "x"],
        ["-c", "-r", "abc", "-p", "x"],
        ["--session-id", "../x", "-p", "x"],
        ["--session-id", "-x", "-p", "x"],
        ["-y", "--permission-mode", "plan", "-p", "x"],
        ["--timeout", "0", "-p", "x"],
        ["--max-budget-usd", "0", "-p", "x"],
        ["--fork-session", "-p", "x"],
        ["-c", "--session-id", "a", "-p", "x"],
        ["-p"],
        ["-p", "  "],
        ["-r", "-p", "x"],
        ["sessions", "no-such-command"],
        ["memory", "add"],
    ],
)
def test_wrong_usage_ends_with_two_and_a_sentence(cli: Cli, argv: list[str]) -> None:
    said = cli(*argv)
    assert (said.code, said.out) == (2, "")
    assert said.err


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["help"], ["sessions", "--help"], ["setup", "-h"]])
def test_help(cli: Cli, argv: list[str]) -> None:
    said = cli(*argv)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Usage: codeagent")


def test_the_version_alone_and_among_others(cli: Cli) -> None:
    alone = program("--version")
    assert (alone.returncode, alone.stdout) == (0, f"codeagent {__version__}\n".encode())
    assert cli("-v", "--version").out == f"codeagent {__version__}\n"


def test_a_shell_completes_flags_and_commands(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = cli("completion", "bash").out
    assert "_CODEAGENT_COMPLETE=complete_bash" in script
    monkeypatch.setenv("_CODEAGENT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "codeagent se")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert program().stdout.split() == [b"setup", b"sessions"]
    monkeypatch.setenv("COMP_WORDS", "codeagent --perm")
    assert program().stdout.split() == [b"--permission-mode"]


def test_an_unforeseen_error_is_one_sentence_and_a_private_log(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    report(KeyError("x\x1b[31m"), debug=False)
    (log,) = home.logs.iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "KeyError" in log.read_text()
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("codeagent: unexpected error (KeyError:")
    assert second == f"The traceback is in {log}; --debug shows it."
    report(KeyError("x"), debug=True)
    assert "Traceback" not in first
    assert capsys.readouterr().err.startswith("KeyError: 'x'")


def test_a_home_that_cannot_be_written_is_no_second_error(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.root.write_text("a file")
    report(KeyError("x"), debug=False)
    assert capsys.readouterr().err.splitlines()[1:] == ["--debug shows the traceback."]


def test_debug_behind_a_subcommand_shows_where_it_failed(cli: Cli) -> None:
    assert "Traceback" not in cli("sessions", "show", "gone").err
    assert "Traceback" in cli("sessions", "show", "gone", "--debug").err


def test_a_working_folder_that_is_gone(cli: Cli, project: Path) -> None:
    project.rmdir()
    sentence = "codeagent: The working folder no longer exists.\nChange to another one.\n"
    assert cli("sessions", "list") == Said(1, "", sentence)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("\ufeff你好".encode(), "你好"),
        ("你好，世界".encode("gbk"), "你好，世界"),
        (b"\xff\xff\xff", "\ufffd\ufffd\ufffd"),
    ],
)
def test_what_is_piped_in_is_read_in_its_encoding(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_a_message_of_a_stream() -> None:
    assert parse_message(b'{"type":"user","message":{"role":"user","content":"hi"}}', 1) == "hi"
    parts = b'{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}'
    assert parse_message(parts, 1) == "ab"


@pytest.mark.parametrize("line", [b"hi", b"[]", b"{}", b'{"message":"x"}', b'{"message":{"content":5}}', b"\xff"])
def test_a_line_that_is_no_message_is_named(line: bytes) -> None:
    with pytest.raises(UsageError, match="Line 7 of standard input"):
        parse_message(line, 7)


FULL = "codeagent: Standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("argv", [["--version"], ["-v", "--version"], ["--help"], ["config", "show"]])
def test_a_full_disk_behind_standard_output_is_one_sentence(home: Home, project: Path, argv: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "codeagent", *argv],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (1, FULL)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_standard_streams(home: Home, project: Path, closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m codeagent config get max_turns {closed}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"" if closed.startswith(">&-") else b"200\n", b"")


def test_a_rule_for_a_tool_that_is_not_there_names_the_nearest(cli: Cli) -> None:
    for flag in ("--disallowed-tools", "--allowed-tools"):
        assert cli(flag, "glob,bash(rm:*)", "-p", "x") == Said(
            2, "", "codeagent: There is no tool bash.\nDid you mean shell?\n"
        )
    assert cli("--disallowed-tools", "mcp__x,Edit", "-p", "x").err.endswith("Did you mean edit_file?\n")


def test_an_empty_home_is_not_the_root_of_the_disk(home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEAGENT_HOME")
    monkeypatch.setenv("HOME", "")
    assert cli("config", "path") == Said(2, "", "codeagent: HOME is empty.\nSet it, or CODEAGENT_HOME.\n")
