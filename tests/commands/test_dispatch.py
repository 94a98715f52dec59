"""Which lines are commands, and which command they are."""

from __future__ import annotations

import pytest

from codeagent.commands.base import Done, Exit, Send
from codeagent.commands.dispatch import catalog, is_command
from codeagent.core.events import Notice
from codeagent.llm.providers.scripted import say
from tests.commands.conftest import Sit


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/help", True),
        ("  /help me", True),
        ("/", True),
        ("/nonsense", True),
        ("/usr/bin/env is missing", False),
        ("// a comment", False),
        ("hello /help", False),
        ("/src/解析.py 有问题", False),
        ("", False),
        ("\n", False),
    ],
)
def test_a_path_is_no_command(line: str, expected: bool) -> None:
    assert is_command(line) is expected


def test_every_word_means_one_command() -> None:
    words = [word for command in catalog() for word in (command.name, *command.aliases)]
    assert len(words) == len(set(words))


def test_what_is_promised_is_there() -> None:
    promised = (
        "help save compact memory clear new resume sessions rename model plan status context cost usage stats exit quit"
    )
    words = {word for command in catalog() for word in (command.name, *command.aliases)}
    assert set(promised.split()) - words == set()


def test_every_command_explains_itself_in_one_line() -> None:
    assert [command.name for command in catalog() if not command.help.endswith(".") or "\n" in command.help] == []


@pytest.mark.parametrize(
    ("line", "near"),
    [("/hepl", "help"), ("/sav x", "save"), ("/Clear", "clear"), ("/modle x", "model"), ("/quite", "quit")],
)
async def test_an_unknown_command_names_the_nearest_and_is_not_said(sit: Sit, line: str, near: str) -> None:
    table = await sit()
    word = line.split()[0]
    expected = Notice("There is no command {word}. Did you mean /{near}?", {"word": word, "near": near}, "warning")
    assert (await table.shown(line), table.session.history.turn) == ([expected], 0)


@pytest.mark.parametrize("line", ["/xyzzy", "/", "/帮助"])
async def test_an_unknown_command_that_is_like_nothing(sit: Sit, line: str) -> None:
    table = await sit()
    assert await table.told(line) == [f"There is no command {line}; /help lists them."]
    assert table.session.history.turn == 0


async def test_a_path_is_said_to_the_model(sit: Sit) -> None:
    table = await sit(say("I see."))
    assert await table.type("/etc/hosts looks odd") == Send("/etc/hosts looks odd")
    assert table.session.history.entries[0].said == "/etc/hosts looks odd"


@pytest.mark.parametrize(("line", "outcome"), [("/exit", Exit()), (" /quit ", Exit()), ("/new", Done())])
async def test_aliases(sit: Sit, line: str, outcome: object) -> None:
    table = await sit()
    assert await table.type(line) == outcome
