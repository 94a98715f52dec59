"""A world that is closed, and checked for steps nobody asked for, when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.agent._world import World

Make = Callable[..., World]


@pytest.fixture
async def make(tmp_path: Path, words: Path) -> AsyncIterator[Make]:
    """A world with these settings."""
    made: list[World] = []

    def new(**settings: object) -> World:
        made.append(World(tmp_path, cache=words, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield new
    for one in made:
        await one.close()


@pytest.fixture
def world(make: Make) -> World:
    return make()
