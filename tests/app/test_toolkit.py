"""Which tools a session has."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.paths import Home
from codeagent.core.tokens import estimate_classes
from codeagent.endpoints import Endpoints
from codeagent.settings import Settings
from codeagent.settings.schema import ToolsSettings
from codeagent.toolkit import NEEDED, make_toolbox, make_web, suited
from tests.tools.world import Gate


@pytest.mark.parametrize(
    ("model", "format", "editing"),
    [
        ("gpt-5.2", "auto", "apply_patch"),
        ("gpt-5.2", "edit", "edit_file"),
        ("deepseek-chat", "auto", "edit_file"),
        ("deepseek-chat", "patch", "apply_patch"),
    ],
)
async def test_a_model_edits_as_it_was_trained_or_as_the_settings_say(
    tmp_path: Path, model: str, format: str, editing: str
) -> None:
    settings = Settings(
        model=model,
        base_url="http://127.0.0.1:9/v1",
        context_window=8_000,
        tools=ToolsSettings.model_validate({"edit_format": format}),
    )
    connection = await Endpoints(settings, {}, Home(tmp_path)).connect()
    box = suited(make_toolbox(settings, Gate(), make_web(settings.web, {})), connection)
    assert [name for name in box.names if name in ("edit_file", "apply_patch")] == [editing]
    await connection.model.provider.aclose()


@pytest.mark.parametrize(("window", "cramped"), [(4_000, True), (8_192, True), (16_384, False)])
async def test_a_small_window_has_few_tools_in_few_words(tmp_path: Path, window: int, cramped: bool) -> None:
    settings = Settings(model="m", base_url="http://127.0.0.1:9/v1", context_window=window)
    connection = await Endpoints(settings, {}, Home(tmp_path)).connect()
    box = suited(make_toolbox(settings, Gate(), make_web(settings.web, {})), connection)
    assert (set(box.names) == {*NEEDED} - {"apply_patch"}, estimate_classes(box.schemas) < 900) == (cramped, cramped)
    await connection.model.provider.aclose()
