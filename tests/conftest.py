"""What tests of several rooms share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from codeagent.safety.sandbox import kernel
from codeagent.text.segment import Segmenter

THERE = {"landlock": kernel.version() >= 6, "bubblewrap": shutil.which("bwrap") is not None, "root": os.geteuid() == 0}
"""Groups of tests that need what the system alone has."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the groups whose need is not met."""
    missing = [group for group, there in THERE.items() if not there]
    out = {item for item in items if any(item.get_closest_marker(group) for group in missing)}
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the dictionary of words in it: making it takes seconds, and each home without it makes its own."""
    folder = tmp_path_factory.mktemp("words")
    Segmenter(folder).warm()
    return folder
