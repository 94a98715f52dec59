"""A home that others may enter."""

from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.core.paths import Home
from codeagent.settings import load_settings


def modes(root: Path) -> dict[str, int]:
    return {path.relative_to(root).as_posix(): path.stat().st_mode & 0o777 for path in [root, *root.rglob("*")]}


def opened(tmp_path: Path) -> Home:
    """A home that anybody may change, and what it usually holds."""
    home = Home(tmp_path / "家")
    for path in (home.config, home.facts, home.history / "p" / "s.jsonl", home.root / "commands" / "own.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for path in [home.root, *home.root.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    return home


def test_it_is_shut_with_what_it_holds_of_ours(tmp_path: Path) -> None:
    home = opened(tmp_path)
    assert load_settings({}, {}, home, None).notices == ()
    assert modes(home.root) == {
        ".": 0o700,
        "config.toml": 0o600,
        "memory": 0o700,
        "memory/long_term_memory.json": 0o600,
        "history": 0o700,
        "history/p": 0o700,
        "history/p/s.jsonl": 0o600,
        "commands": 0o777,
        "commands/own.md": 0o666,
    }


@pytest.mark.parametrize("kind", ["sticky", "the person's own"])
def test_a_folder_that_is_more_than_a_home_stays_and_is_told_of(tmp_path: Path, kind: str) -> None:
    home = opened(tmp_path)
    if kind == "sticky":
        home.root.chmod(0o1777)
    before = modes(home.root)
    environ = {"HOME": str(home.root)} if kind == "the person's own" else {}
    (notice,) = load_settings({}, environ, home, None).notices
    assert str(notice) == (
        f"{home.root} holds keys and what was said, others may enter it, and it is used for other things too. "
        "Set CODEAGENT_HOME to another."
    )
    assert modes(home.root) == before


def test_a_link_inside_is_not_followed(tmp_path: Path) -> None:
    home, other = opened(tmp_path), tmp_path / "shared.toml"
    other.write_text("")
    other.chmod(0o644)
    home.config.unlink()
    home.config.symlink_to(other)
    load_settings({}, {}, home, None)
    assert other.stat().st_mode & 0o777 == 0o644
