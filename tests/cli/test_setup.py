"""`codeagent setup` and the start where nothing is configured, with real requests and a real terminal."""

from __future__ import annotations

import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.cli.peek import Peek, peek
from codeagent.cli.start import editor
from codeagent.core.paths import Home
from codeagent.llm.providers.scripted import say
from codeagent.options import Options
from codeagent.workspace import find_project
from tests.cli.conftest import ROOT, Cli
from tests.e2e.terminal import Terminal
from tests.server.endpoint import Response, ScriptedEndpoint

REFUSED = Response((b'{"error":{"message":"bad key"}}',), status=401)


def written(home: Home) -> dict[str, object]:
    return tomllib.loads(home.config.read_text())


def test_flags_are_tried_and_written(cli: Cli, home: Home) -> None:
    with ScriptedEndpoint([say("Hello there, friend.")]) as server:
        url = server.base_url
        said = cli("setup", "--base-url", f"{url}/chat/completions", "--model", "模型", "--api-key", "sk-0123456789")
        assert server.requests[0].headers["authorization"] == "Bearer sk-0123456789"
    assert said.code == 0
    assert "Hello there, friend." in said.out
    assert "0123456789" not in said.out
    assert written(home) == {"base_url": url, "model": "模型", "api_key": "sk-0123456789"}
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600


def test_what_does_not_work_is_not_written(cli: Cli, home: Home) -> None:
    with ScriptedEndpoint([REFUSED]) as server:
        said = cli("setup", "--base-url", server.base_url, "--model", "m", "--api-key", "wrong-key-wrong")
    assert (said.code, said.out, home.config.exists()) == (1, "", False)
    assert "wrong-key" not in said.err


def test_a_key_of_the_environment_is_not_written_down(cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-secret")
    assert cli("setup", "--provider", "deepseek", "--no-test").code == 0
    assert written(home) == {"base_url": "https://api.deepseek.com/v1", "model": "deepseek-chat"}


@pytest.mark.parametrize(
    "argv", [["--provider", "no-such"], ["--base-url", "http://x"], ["--provider", "deepseek"], []]
)
def test_too_little_is_a_usage_error(cli: Cli, home: Home, argv: list[str]) -> None:
    said = cli("setup", *argv)
    assert (said.code, said.out, home.config.exists()) == (2, "", False)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(home: Home, project: Path) -> Open:
    def opened(*argv: str) -> Terminal:
        environ = {"PYTHONPATH": str(ROOT), "CODEAGENT_HOME": str(home.root)}
        return Terminal([sys.executable, "-m", "codeagent", *argv], cwd=project, environ=environ)

    return opened


def wait(screen: Terminal, question: bytes, times: int) -> None:
    """Until `question` has been asked so often: a key typed before it is asked for is lost."""
    while screen.raw.count(question) < times:
        assert screen.pump(), screen.everything


def test_setup_asks_until_it_works(terminal: Open, home: Home) -> None:
    with ScriptedEndpoint([REFUSED, say("Hello.")]) as server, terminal("setup") as screen:
        for times, key in ((1, "wrong-key"), (2, "right-key")):
            wait(screen, b"Which one", times)
            screen.say(server.base_url)
            wait(screen, b"Key (not shown", times)
            screen.say(key)
            wait(screen, b"Model [", times)
            screen.say("coder")
            if times == 1:
                wait(screen, b"all the same?", times)
                screen.say("")
        screen.wait_for("Written to")
        assert screen.wait_exit() == 0
        assert b"right-key" not in screen.raw
    assert written(home) == {"base_url": server.base_url, "model": "coder", "api_key": "right-key"}


def test_a_start_with_nothing_configured_explains_and_offers(terminal: Open, home: Home) -> None:
    with terminal() as screen:
        screen.wait_for("No model is configured yet")
        screen.wait_for("1  set up now")
        screen.say("x")
        screen.say("3")
        assert screen.wait_exit() == 2
    assert not home.config.exists()


def test_a_start_with_nothing_configured_can_show_how_it_works(terminal: Open, home: Home) -> None:
    with terminal() as screen:
        screen.wait_for("2  see a demonstration")
        screen.say("2")
        screen.wait_for("scripted")
    assert not home.config.exists()


def peeked(home: Home, project: Path, environ: dict[str, str] | None = None) -> Peek:
    return peek(Options(cwd=project, home=home, environ=environ or {}), find_project(project))


def test_peek_sees_what_the_first_draw_needs(home: Home, project: Path) -> None:
    assert peeked(home, project) == Peek("default", False, True, "bell", "", False)
    home.root.mkdir()
    home.config.write_text('model = "a"\ntheme = "light"\n[ui]\nvim = true\n')
    assert peeked(home, project) == Peek("light", True, True, "bell", "a", False)
    (project / ".code-agent-cli").mkdir()
    (project / ".code-agent-cli" / "config.toml").write_text('model = "b"\nbase_url = "http://x"\n[ui]\nvim = false\n')
    assert peeked(home, project) == Peek("light", False, True, "bell", "b", True)
    environ = {"CODEAGENT_MODEL": "c", "CODEAGENT_THEME": "plain", "CODEAGENT_UI__VIM": "1"}
    environ["CODEAGENT_UI__STATUS_LINE"] = "off"
    assert peeked(home, project, environ) == Peek("plain", True, False, "bell", "c", True)


@pytest.mark.parametrize("content", [b"model = ", b"\xff", b'model = 5\nui = "x"\ntheme = []\n'])
def test_peek_passes_over_what_is_broken(home: Home, project: Path, content: bytes) -> None:
    home.root.mkdir()
    home.config.write_bytes(content)
    assert peeked(home, project) == Peek("default", False, True, "bell", "", False)


def test_peek_knows_the_model_of_a_key(home: Home, project: Path) -> None:
    assert peeked(home, project, {"DEEPSEEK_API_KEY": "k"}) == Peek(
        "default", False, True, "bell", "deepseek-chat", True
    )


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, ("vi",)),
        ({"EDITOR": "nano"}, ("nano",)),
        ({"EDITOR": "nano", "VISUAL": "code --wait 'a b'"}, ("code", "--wait", "a b")),
        ({"EDITOR": "nano", "VISUAL": "'"}, ("nano",)),
    ],
)
def test_the_editor(environ: dict[str, str], words: tuple[str, ...]) -> None:
    assert editor(environ) == words


def test_the_key_of_the_environment_is_tried_where_nobody_known_lives(
    cli: Cli, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-standing")
    with ScriptedEndpoint([say("hi")]) as server:
        said = cli("setup", "--base-url", server.base_url, "--model", "m")
    assert said.code == 0
    assert server.requests[0].headers["authorization"] == "Bearer sk-standing"
    assert "sk-standing" not in home.config.read_text()
