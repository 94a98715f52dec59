"""Places where a change could act on its own later."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.safety.places import guarded


@pytest.mark.parametrize(
    ("path", "is_so"),
    [
        (".git/hooks/pre-commit", True),
        (".GIT/hooks/pre-commit", True),
        ("sub/.Git/config", True),
        (".Code-Agent-Cli/config.toml", True),
        (".gitignore", False),
        ("git/config", False),
    ],
)
def test_it_is_guarded_by_any_spelling(path: str, is_so: bool) -> None:
    assert guarded(Path("/project") / path, [Path("/project")]) is is_so
