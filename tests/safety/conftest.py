"""Groups of tests that need what the system alone has."""

from __future__ import annotations

import os
import shutil

import pytest

from codeagent.safety.sandbox import kernel

THERE = {"landlock": kernel.version() >= 6, "bubblewrap": shutil.which("bwrap") is not None, "root": os.geteuid() == 0}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the groups whose need is not met."""
    out = [item for item in items if any(item.get_closest_marker(group) and not there for group, there in THERE.items())]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
