"""`codeagent doctor`: the table, the JSON, what is kept, and how it ends."""

from __future__ import annotations

import json
import stat

import pytest

from codeagent.core.paths import Home
from tests.cli.conftest import Cli
from tests.llm.test_doctor import bare, capable
from tests.server.endpoint import JSON, Response, ScriptedEndpoint

PS = Response((json.dumps({"models": [{"model": "模型", "context_length": 4096}]}).encode(),), headers=JSON)


def test_what_is_found_is_shown_and_kept_for_later(cli: Cli, home: Home) -> None:
    with ScriptedEndpoint(bare, models=("模型",), routes={"/api/ps": PS}) as server:
        place = f"{server.base_url} 模型"
        said = cli("doctor", "--base-url", f"{server.base_url}/chat/completions", "--model", "模型")
        assert said.code == 0
        assert said.out.splitlines()[0] == f"模型 at {server.base_url}"
        assert "✗  developer role    status 400, unknown role: developer" in said.out
        assert "it cuts long prompts silently" in said.err
        assert json.loads(home.profiles.read_text()) == {
            place: {"limit": None, "usage": False, "vision": False, "bare_calls": True}
        }
        assert json.loads(home.windows.read_text()) == {place: 4096}
        assert stat.S_IMODE(home.profiles.stat().st_mode) == 0o600
        before = len(server.requests)
        again = cli("-p", "hi", "--base-url", server.base_url, "--model", "模型")
        assert (again.code, len(server.requests) - before) == (0, 1)


def test_as_json(cli: Cli, home: Home) -> None:
    with ScriptedEndpoint(capable, models=("m",)) as server:
        said = cli("--no-sandbox", "doctor", "--json", "--base-url", server.base_url, "--model", "m")
        assert said.code == 0
        found = said.json
        assert {"what": "tool calls", "state": "yes", "detail": ""} in found.pop("findings")
        assert found == {
            "base_url": server.base_url, "model": "m", "window": None, "profile": {}, "warnings": [], "sandbox": "off"
        }  # fmt: skip


@pytest.mark.parametrize("model", [("--model", "m"), ()])
def test_nobody_there_is_worth_another_try(cli: Cli, home: Home, model: tuple[str, ...]) -> None:
    said = cli("doctor", "--base-url", "http://127.0.0.1:9", *model)
    assert (said.code, said.out) == (75, "")
    assert "http://127.0.0.1:9/v1" in said.err


def test_a_model_that_is_a_file_cannot_be_examined(cli: Cli, home: Home) -> None:
    said = cli("--provider", "scripted", "doctor")
    assert (said.code, said.out) == (2, "")
