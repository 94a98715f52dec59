"""What is said in the demonstration, read from `en.toml` or `zh.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeagent.core.messages import encode_json

DELTA = 0.05
"""Seconds between two pieces of what the model says, when one is to follow it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One line of the person and what comes of it."""

    say: str
    tell: str = ""
    """What the narrator says before it."""
    replies: tuple[Mapping[str, Any], ...] = ()
    """Steps of the scripted model, as in a script file."""
    carried: tuple[str, ...] = ()
    """Words of earlier scenes that must stand in the request that this line leads to."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """From opening a session to leaving it."""

    tell: str
    scenes: tuple[Scene, ...]

    def steps(self, *, paced: bool) -> bytes:
        """The model's part as a script file."""
        delay = {"delay": DELTA} if paced else {}
        return encode_json([{**reply, **delay} for scene in self.scenes for reply in scene.replies])


@dataclass(frozen=True, slots=True)
class Script:
    intro: str
    proof: str
    """Template for what is shown of `Scene.carried`."""
    closing: str
    kept: str
    """Template that names the folder when it stays."""
    stopped: str
    files: Mapping[str, str]
    """The repository: texts by relative path."""
    sittings: tuple[Sitting, ...]


def read_script(language: str, names: Mapping[str, str]) -> Script:
    """The script in a language ("en", "zh"); "{name}" becomes what `names` says."""
    text = (Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8")
    raw = _filled(tomllib.loads(text), names)
    sittings = tuple(Sitting(one["tell"], tuple(map(_scene, one["scene"]))) for one in raw.pop("sitting"))
    return Script(**raw, sittings=sittings)


def _scene(raw: dict[str, Any]) -> Scene:
    replies, carried = tuple(raw.pop("reply", ())), tuple(raw.pop("carried", ()))
    return Scene(**raw, replies=replies, carried=carried)


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            for name, text in names.items():
                value = value.replace(f"{{{name}}}", text)
            return value
        case list():
            return [_filled(part, names) for part in value]
        case dict():
            return {key: _filled(part, names) for key, part in value.items()}
    return value
