from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.world import World, make_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    made = make_world(tmp_path)
    yield made
    await made.jobs.aclose()
