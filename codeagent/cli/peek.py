"""The few settings that the first draw needs, without the settings: the real ones are loaded while it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeagent.core.paths import Project
from codeagent.llm import presets
from codeagent.options import Options
from codeagent.workspace import read_regular


@dataclass(frozen=True, slots=True)
class Peek:
    theme: str
    vim: bool
    status_line: bool
    notify: str
    model: str
    """The model as far as it can be told yet, else ""."""
    configured: bool
    """Something names an endpoint, a key or a provider."""


def peek(options: Options, project: Project) -> Peek:
    """What can be seen at a glance. A file that is broken is passed over: the real reading will say so."""
    user = _toml(options.home.config)
    team = (
        {}
        if options.safe_mode
        else {**_toml(project.folder / "config.toml"), **_toml(project.folder / "config.local.toml")}
    )
    environ = options.environ
    found = presets.detect(environ)
    ui = {**_table(user, "ui"), **_table(team, "ui")}
    model = options.model or environ.get("CODEAGENT_MODEL") or _text(team, "model") or _text(user, "model")
    return Peek(
        theme=environ.get("CODEAGENT_THEME") or _text(team, "theme") or _text(user, "theme") or "default",
        vim=_on(environ.get("CODEAGENT_UI__VIM", ui.get("vim", False))),
        status_line=_on(environ.get("CODEAGENT_UI__STATUS_LINE", ui.get("status_line", True))),
        notify=environ.get("CODEAGENT_UI__NOTIFY") or _text(ui, "notify") or "bell",
        model=model or (found[0].model if found else ""),
        configured=bool(
            found
            or options.base_url
            or options.provider
            or any(environ.get(name) for name in ("OPENAI_BASE_URL", "CODEAGENT_BASE_URL", "CODEAGENT_API_KEY"))
            or user.keys() & {"base_url", "api_key", "providers"}
            or team.keys() & {"base_url", "api_key", "providers"}
        ),
    )


def _on(value: object) -> bool:
    return str(value).lower() in {"1", "true", "yes", "on"}


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        content = read_regular(path)
    except OSError:
        return {}
    import tomllib  # only where there is a file to read

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except ValueError:
        return {}


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = values.get(key)
    return table if isinstance(table, dict) else {}


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
