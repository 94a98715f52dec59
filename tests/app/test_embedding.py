"""Where embeddings come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from codeagent.connection import Connection
from codeagent.core.paths import Home
from codeagent.endpoints import Endpoints
from codeagent.settings import ProviderSettings, Settings
from codeagent.settings.schema import MemorySettings
from codeagent.settings.trust import needs_trust

OWN = ProviderSettings(name="mine", base_url="http://127.0.0.1:9/v1", models=("small",))
LOCKED = ProviderSettings(name="locked", base_url="http://127.0.0.1:9/v1", api_key_env="LOCKED_KEY")


async def connect(home: Path, retriever: Literal["keyword", "bm25", "hybrid"] = "hybrid", **fields: Any) -> Connection:
    settings = Settings(
        model="chat",
        base_url="http://127.0.0.1:7/v1",
        context_window=1_000,
        providers=(OWN, LOCKED),
        memory=MemorySettings(retriever=retriever),
        **fields,
    )
    return await Endpoints(settings, {}, Home(home)).connect()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("embed", "http://127.0.0.1:7/v1 embed"),
        ("org/embed", "http://127.0.0.1:7/v1 org/embed"),
        ("mine/embed", "http://127.0.0.1:9/v1 embed"),
    ],
)
async def test_the_model_is_where_the_conversation_goes_unless_a_provider_is_named(
    tmp_path: Path, model: str, name: str
) -> None:
    connection = await connect(tmp_path, embedding_model=model)
    assert connection.embedder is not None
    assert (connection.embedder.name, connection.notices) == (name, ())


async def test_without_a_name_it_is_the_local_model_or_a_notice(tmp_path: Path) -> None:
    connection = await connect(tmp_path)
    assert (connection.embedder is None) == bool(connection.notices)


async def test_what_cannot_be_set_up_is_a_notice_and_no_error(tmp_path: Path) -> None:
    connection = await connect(tmp_path, embedding_model="locked/embed")
    assert connection.embedder is None
    assert ["LOCKED_KEY is not set" in str(notice) for notice in connection.notices] == [True]


@pytest.mark.parametrize("retriever", ["keyword", "bm25"])
async def test_nothing_is_set_up_where_it_is_not_wanted(tmp_path: Path, retriever: Literal["keyword", "bm25"]) -> None:
    connection = await connect(tmp_path, retriever, embedding_model="embed")
    assert (connection.embedder, connection.notices) == (None, ())


def test_a_project_may_not_send_facts_to_another_company() -> None:
    assert (needs_trust("embedding_model", "openai/embed"), needs_trust("embedding_model", "embed")) == (True, False)
