"""The command line as people type it, and as Typer reads it."""

from __future__ import annotations

import pytest

from codeagent.cli.argv import COMMANDS, KNOWN, normalise
from codeagent.core.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        # words
        ([], []),
        (["fix the failing test"], ["--text=fix the failing test"]),
        (["fix", "the", "test"], ["--text=fix the test"]),
        (["-m", "gpt", "fix", "-y"], ["-m", "gpt", "-y", "--text=fix"]),
        (["--", "-p", "sessions"], ["--text=-p sessions"]),
        (["--", "sessions"], ["--text=sessions"]),
        (["总结", "这个项目"], ["--text=总结 这个项目"]),
        (["help"], ["--help"]),
        # subcommands
        (["sessions", "list", "--json"], ["sessions", "list", "--json"]),
        (["-m", "memory", "memory", "add", "-p"], ["-m", "memory", "memory", "add", "-p"]),
        (["sessions", "show", "x", "--debug"], ["--debug", "sessions", "show", "x"]),
        (["look", "at", "sessions"], ["--text=look at sessions"]),
        (["session", "handling", "is", "broken"], ["--text=session handling is broken"]),
        (["index the list"], ["--text=index the list"]),
        (["mcp", "my", "files"], ["--text=mcp my files"]),
        (["--", "sesions"], ["--text=sesions"]),
        (["-p", "sesions"], ["--print", "--text=sesions"]),
        (["hello"], ["--text=hello"]),
        # one shot
        (["-p", "x"], ["--print", "--text=x"]),
        (["-p"], ["--print"]),
        (["--print=x"], ["--print", "--text=x"]),
        (["--prompt", "x"], ["--print", "--text=x"]),
        (["-p", "--output-format", "json", "x"], ["--output-format", "json", "--print", "--text=x"]),
        (["x", "-p"], ["--print", "--text=x"]),
        (["-p", "sessions"], ["--print", "--text=sessions"]),
        (["-p", "-"], ["--print"]),
        (["run", "the", "tests"], ["--print", "--text=the tests"]),
        (["exec", "-o", "json", "memory"], ["-o", "json", "--print", "--text=memory"]),
        (["run", "run"], ["--print", "--text=run"]),
        # resume
        (["-r"], ["--pick"]),
        (["--resume"], ["--pick"]),
        (["-r", "20261130-101112-abcdef"], ["--resume=20261130-101112-abcdef"]),
        (["--resume=2026"], ["--resume=2026"]),
        (["-r", "go on with it"], ["--pick", "--text=go on with it"]),
        (["-r", "2026", "go on"], ["--resume=2026", "--text=go on"]),
        (["-r", "-p", "x"], ["--pick", "--print", "--text=x"]),
        (["-p", "x", "-r", "abc"], ["--resume=abc", "--print", "--text=x"]),
        # bundles
        (["-cp", "go on"], ["-c", "--print", "--text=go on"]),
        (["-pc", "go on"], ["-c", "--print", "--text=go on"]),
        (["-yvp", "x"], ["-y", "-v", "--print", "--text=x"]),
        (["-mgpt-4.1", "x"], ["-m", "gpt-4.1", "--text=x"]),
        (["-ymgpt"], ["-y", "-m", "gpt"]),
        (["-pfix"], ["--print", "--text=fix"]),
        (["-r2026"], ["--resume=2026"]),
        (["-cr"], ["-c", "--pick"]),
        # what Typer has to judge
        (["--no-such", "x"], ["--no-such", "--text=x"]),
        (["-q"], ["-q"]),
        (["-m"], ["-m"]),
        (["--model=a/b", "x"], ["--model=a/b", "--text=x"]),
    ],
)
def test_a_command_line(typed: list[str], read: list[str]) -> None:
    assert normalise(typed) == read


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["sesions", "list"], "There is no command sesions. Did you mean sessions?"),
        (["memroy"], "There is no command memroy. Did you mean memory?"),
        (["confg", "--help"], "There is no command confg. Did you mean config?"),
        (["-m", "gpt", "setpu"], "There is no command setpu. Did you mean setup?"),
    ],
)
def test_a_slip_never_reaches_the_model(typed: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        normalise(typed)
    assert str(raised.value) == sentence


def test_what_is_not_there_is_no_prompt() -> None:
    for name in KNOWN.keys() - COMMANDS:
        for typed in ([name], [name, "--json"], *([name, word] for word in KNOWN[name])):
            with pytest.raises(UsageError, match=f"no command {name} in this version"):
                normalise(typed)
