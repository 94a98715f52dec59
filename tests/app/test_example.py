"""The commented copy of a project's folder says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from codeagent.core.paths import Home
from codeagent.settings import known_keys, load_settings

EXAMPLE = Path(__file__).resolve().parents[2] / ".code-agent-cli.example" / "config.toml"
SETTING = re.compile(r"# ((?:[a-z_]+ = .+)|(?:\[\[?[a-z_]+\]\]?))$")


def uncommented() -> str:
    return "\n".join(found[1] for line in EXAMPLE.read_text().splitlines() if (found := SETTING.match(line)))


def test_every_setting_is_explained_and_its_example_is_valid(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text(uncommented())
    loaded = load_settings({}, {}, home, None)
    assert loaded.notices == ()
    named = {key for key, origin in loaded.origins.items() if origin.source == str(home.config)}
    assert named == set(known_keys())


def test_as_it_stands_it_sets_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text(EXAMPLE.read_text())
    loaded = load_settings({}, {}, home, None)
    assert {origin.source for origin in loaded.origins.values()} == {"default"}
