"""Providers by name, key and URL; servers on this machine."""

from __future__ import annotations

import asyncio

import pytest

from codeagent.llm.presets import (
    LOCAL,
    PRESETS,
    Found,
    Preset,
    by_url,
    detect,
    find,
    find_local,
    is_local,
    key_for,
    key_variable,
    normalise_url,
    split,
)
from tests.server.endpoint import Pause, Response, ScriptedEndpoint

DEEPSEEK = find("deepseek")


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com/v1"),
        ("api.deepseek.com/", "https://api.deepseek.com/v1"),
        ("https://api.deepseek.com/v1/", "https://api.deepseek.com/v1"),
        (" https://x.example/v1/chat/completions ", "https://x.example/v1"),
        ("https://x.example/v1/chat/completions?key=1#a", "https://x.example/v1"),
        ("https://x.example//v1//chat/", "https://x.example/v1"),
        ("https://x.example/v1/models", "https://x.example/v1"),
        ("localhost:8000", "http://localhost:8000/v1"),
        ("192.168.1.5:1234/v1", "http://192.168.1.5:1234/v1"),
        ("HTTP://[::1]:8080", "http://[::1]:8080/v1"),
        ("https://open.bigmodel.cn", "https://open.bigmodel.cn/api/paas/v4"),
        ("https://open.bigmodel.cn/api/paas/v4/", "https://open.bigmodel.cn/api/paas/v4"),
        ("https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("https://proxy.example/openai/deployments/x", "https://proxy.example/openai/deployments/x"),
        ("'https://x.example/v1'", "https://x.example/v1"),
        ("http://[::1", "http://[::1"),
        ("", ""),
    ],
)
def test_the_url_that_was_meant_is_found(typed: str, url: str) -> None:
    assert normalise_url(typed) == url
    assert normalise_url(url) == url


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("deepseek/deepseek-chat", (DEEPSEEK, "deepseek-chat")),
        ("openrouter/deepseek/deepseek-chat", (find("openrouter"), "deepseek/deepseek-chat")),
        ("deepseek-chat", (None, "deepseek-chat")),
        ("meta-llama/Llama-3", (None, "meta-llama/Llama-3")),
        ("deepseek/", (None, "deepseek/")),
    ],
)
def test_a_provider_may_stand_before_the_model(model: str, found: tuple[Preset | None, str]) -> None:
    assert split(model) == found


def test_every_preset_is_complete_and_its_url_normal() -> None:
    assert [preset.name for preset in PRESETS if not (preset.keys and preset.model)] == []
    assert [preset.base_url for preset in (*PRESETS, *LOCAL)] == [
        normalise_url(preset.base_url) for preset in (*PRESETS, *LOCAL)
    ]
    assert len({preset.name for preset in (*PRESETS, *LOCAL)}) == len(PRESETS) + len(LOCAL)


def test_keys_in_the_environment_tell_the_provider() -> None:
    assert DEEPSEEK is not None
    assert detect({"DEEPSEEK_API_KEY": " k1\n", "OPENAI_API_KEY": "  ", "PATH": "/bin"}) == [Found(DEEPSEEK, "k1")]
    assert detect({}) == []
    assert key_for(DEEPSEEK, {"OPENAI_API_KEY": "k"}) == ""


def test_a_url_tells_its_preset_and_variable() -> None:
    assert by_url("https://api.deepseek.com/beta") == DEEPSEEK
    assert key_variable("https://api.deepseek.com/beta") == "DEEPSEEK_API_KEY"
    assert key_variable("http://127.0.0.1:11434/v1") == "CODEAGENT_API_KEY"
    assert key_variable("https://elsewhere.example/v1") == "CODEAGENT_API_KEY"


def test_private_addresses_are_local() -> None:
    local = [
        "http://localhost/v1",
        "http://127.0.0.1:1/v1",
        "http://10.0.0.8/v1",
        "http://172.20.1.1/",
        "http://[::1]/v1",
    ]
    assert [url for url in local if not is_local(url)] == []
    assert [url for url in ("https://api.x.ai", "http://172.40.1.1", "http://10.example") if is_local(url)] == []


async def test_local_servers_that_answer_are_found() -> None:
    silent = Response((Pause(30),))
    page = Response((b"<html>",), headers=(("Content-Type", "text/html"),))
    async with (
        ScriptedEndpoint(models=("qwen3:8b", "llama3")) as good,
        ScriptedEndpoint(models=()) as empty,
        ScriptedEndpoint(routes={"/v1/models": silent}) as slow,
        ScriptedEndpoint(routes={"/v1/models": page}) as other,
    ):
        here = [
            Preset(name, server.base_url, (), "")
            for name, server in zip("abcd", (good, empty, slow, other), strict=True)
        ]
        async with ScriptedEndpoint() as gone:
            nobody = Preset("e", gone.base_url, (), "")
        found = await asyncio.wait_for(find_local([*here, nobody], timeout=0.3), 5)
    assert found == [Found(here[0], models=("qwen3:8b", "llama3"))]
    assert found[0].model == "qwen3:8b"
