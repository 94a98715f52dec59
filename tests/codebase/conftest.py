from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.codebase.ground import Ground


@pytest.fixture
async def ground(tmp_path: Path, words: Path) -> AsyncIterator[Ground]:
    made = Ground(tmp_path, words)
    yield made
    for code in made.made:
        await code.aclose()
