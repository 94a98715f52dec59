"""Which endpoint is meant, and which key goes there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeagent.connection import Connection
from codeagent.core.errors import ConfigError
from codeagent.core.paths import Home
from codeagent.endpoints import DEFAULT_KIND, Endpoints, named_flags
from codeagent.llm.learning import profile_of
from codeagent.llm.profiles import Profile
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.retry import RetryingProvider
from codeagent.settings import load_settings

WINDOW = {"context_window": 32_000}
DEEPSEEK = "https://api.deepseek.com/v1"
OPENAI = "https://api.openai.com/v1"
GATEWAY = "https://gateway.example/v1"


def endpoints(home: Home, environ: dict[str, str], provider: str | None = None, **flags: Any) -> Endpoints:
    meant = named_flags(provider, {**WINDOW, **flags}, environ)
    loaded = load_settings(meant, environ, home, None)
    return Endpoints(loaded.settings, environ, home, provider or DEFAULT_KIND, loaded.origins["api_key"].source)


def goes(connection: Connection) -> tuple[str, str, str]:
    """(URL, model, key)"""
    retrying = connection.model.provider
    assert isinstance(retrying, RetryingProvider)
    client = retrying._provider
    assert isinstance(client, OpenAIChat)
    endpoint = client._endpoint
    return endpoint.base_url, endpoint.model, endpoint.api_key


async def test_a_connection_names_its_endpoint_and_model(tmp_path: Path) -> None:
    found = endpoints(Home(tmp_path), {}, base_url="http://127.0.0.1:9/v1", model="qwen3-coder")
    connection, other = await found.connect(), await found.connect("glm-4.6")
    assert (connection.place, other.place) == ("http://127.0.0.1:9/v1 qwen3-coder", "http://127.0.0.1:9/v1 glm-4.6")
    for each in (connection, other):
        await each.model.provider.aclose()


OPENAI_SET = {"OPENAI_API_KEY": "openai-key"}
DEEPSEEK_SET = {"DEEPSEEK_API_KEY": "deepseek-key"}
QWEN_SET = {"DASHSCOPE_API_KEY": "qwen-key"}
HAND = {"CODEAGENT_API_KEY": "by-hand"}


@pytest.mark.parametrize(
    ("environ", "flags", "place"),
    [
        (OPENAI_SET, {}, (OPENAI, "gpt-5.1", "openai-key")),
        (OPENAI_SET, {"base_url": GATEWAY, "model": "m"}, (GATEWAY, "m", "openai-key")),
        (OPENAI_SET | DEEPSEEK_SET, {"base_url": DEEPSEEK}, (DEEPSEEK, "deepseek-chat", "deepseek-key")),
        (OPENAI_SET | DEEPSEEK_SET, {"model": "deepseek/deepseek-chat"}, (DEEPSEEK, "deepseek-chat", "deepseek-key")),
        (OPENAI_SET | DEEPSEEK_SET, {"model": "deepseek-reasoner"}, (DEEPSEEK, "deepseek-reasoner", "deepseek-key")),
        (OPENAI_SET | DEEPSEEK_SET, {"model": "o3-mini"}, (OPENAI, "o3-mini", "openai-key")),
        (OPENAI_SET | DEEPSEEK_SET | QWEN_SET, {"model": "qwen-max"},
         ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-max", "qwen-key")),
        (OPENAI_SET | DEEPSEEK_SET, {"model": "unheard-of"}, (OPENAI, "unheard-of", "openai-key")),
        (OPENAI_SET | {"GROQ_API_KEY": "groq-key", "CEREBRAS_API_KEY": "cerebras-key"}, {"model": "gpt-oss-120b"},
         ("https://api.cerebras.ai/v1", "gpt-oss-120b", "cerebras-key")),
        (HAND, {"model": "deepseek/deepseek-chat"}, (DEEPSEEK, "deepseek-chat", "by-hand")),
        (HAND, {"model": "deepseek-chat"}, (DEEPSEEK, "deepseek-chat", "by-hand")),
        (HAND, {"base_url": DEEPSEEK}, (DEEPSEEK, "deepseek-chat", "by-hand")),
        (HAND | OPENAI_SET, {}, (OPENAI, "gpt-5.1", "by-hand")),
        (OPENAI_SET, {"model": "ollama/qwen3"}, ("http://127.0.0.1:11434/v1", "qwen3", "")),
    ],
)  # fmt: skip
async def test_a_key_goes_where_it_belongs(
    tmp_path: Path, environ: dict[str, str], flags: dict[str, str], place: tuple[str, str, str]
) -> None:
    assert goes(await endpoints(Home(tmp_path), environ, **flags).connect()) == place


@pytest.mark.parametrize("flags", [{"model": "deepseek/deepseek-chat"}, {"base_url": DEEPSEEK}])
async def test_the_key_of_openai_never_goes_to_another_company(tmp_path: Path, flags: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as raised:
        await endpoints(Home(tmp_path), OPENAI_SET, **flags).connect()
    assert (str(raised.value), raised.value.hint) == (
        "The key of deepseek is not set.",
        "Set DEEPSEEK_API_KEY, or run codeagent setup.",
    )


async def test_a_key_set_by_hand_serves_what_it_was_set_for(tmp_path: Path) -> None:
    found = endpoints(Home(tmp_path), HAND, model="deepseek/deepseek-chat")
    assert goes(await found.connect("deepseek/deepseek-reasoner")) == (DEEPSEEK, "deepseek-reasoner", "by-hand")
    with pytest.raises(ConfigError, match="The key of openai is not set"):
        await found.connect("openai/gpt-5.1")


async def test_a_key_beside_one_endpoint_does_not_go_to_another(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text(f'base_url = "{GATEWAY}"\napi_key = "gateway-key"\nmodel = "m"\n')
    assert goes(await endpoints(home, {}).connect()) == (GATEWAY, "m", "gateway-key")
    assert goes(await endpoints(home, {}, base_url="http://127.0.0.1:9/v1").connect()) == (
        "http://127.0.0.1:9/v1",
        "m",
        "",
    )


OWN = """
model = "elsewhere"
base_url = "https://gateway.example/v1"
[[providers]]
name = "corp"
base_url = "https://corp.example/v1"
api_key_env = "CORP_KEY"
models = ["large", "small"]
"""


@pytest.mark.parametrize(
    ("provider", "flags", "place"),
    [
        ("deepseek", {}, (DEEPSEEK, "deepseek-chat", "deepseek-key")),
        ("deepseek", {"model": "deepseek-reasoner"}, (DEEPSEEK, "deepseek-reasoner", "deepseek-key")),
        ("deepseek", {"model": "deepseek/deepseek-reasoner"}, (DEEPSEEK, "deepseek-reasoner", "deepseek-key")),
        ("corp", {}, ("https://corp.example/v1", "large", "corp-key")),
        ("corp", {"model": "small"}, ("https://corp.example/v1", "small", "corp-key")),
        ("openai_chat", {}, (GATEWAY, "elsewhere", "openai-key")),
    ],
)
async def test_a_provider_is_named_by_flag(
    tmp_path: Path, provider: str, flags: dict[str, str], place: tuple[str, str, str]
) -> None:
    home = Home(tmp_path)
    home.config.write_text(OWN)
    environ = OPENAI_SET | DEEPSEEK_SET | {"CORP_KEY": "corp-key"}
    assert goes(await endpoints(home, environ, provider, **flags).connect()) == place


async def test_a_profile_written_by_hand_goes_before_what_is_known(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text(OWN + 'profile = { limit = "none", ids = "nine", vision = false }\n')
    found = await endpoints(home, {"CORP_KEY": "corp-key"}, "corp").spoken()
    known = Profile(limit=None, ids="nine", vision=False)
    assert profile_of(found) == known
    assert found.lessons is not None
    found.lessons.learn(found.place, {"vision": True, "usage": False})
    assert profile_of(found) == replace(known, usage=False)
    assert json.loads(home.profiles.read_text()) == {found.place: {"usage": False}}


async def test_an_unknown_provider_is_told_with_those_there_are(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text(OWN)
    with pytest.raises(ConfigError) as raised:
        await endpoints(home, {}, "depseek").connect()
    assert str(raised.value) == "There is no provider depseek."
    assert raised.value.hint.startswith("Known: openai_chat, scripted, corp, openai, deepseek, ")
