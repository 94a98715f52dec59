"""/doctor examines the endpoint of the session's model."""

from __future__ import annotations

import pytest

from codeagent.core.errors import ConfigError
from codeagent.core.events import Notice
from codeagent.core.ui import Table
from tests.commands.conftest import Sit
from tests.llm.test_doctor import capable
from tests.server.endpoint import ScriptedEndpoint


async def test_the_model_in_use_is_examined(sit: Sit) -> None:
    async with ScriptedEndpoint(capable, models=("m", "n")) as server:
        table = await sit(provider=None, base_url=server.base_url, model="m")
        await table.type("/model n")
        asking, found, kept = await table.shown("/doctor")
    assert isinstance(asking, Notice)
    assert isinstance(kept, Notice)
    assert isinstance(found, Table)
    assert ("✓", "model list", "2, n among them") in found.rows
    assert {request.json["model"] for request in server.requests} == {"n"}


async def test_a_scripted_model_cannot_be_examined(sit: Sit) -> None:
    table = await sit()
    with pytest.raises(ConfigError):
        await table.type("/doctor")
