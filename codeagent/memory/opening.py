"""Open the place that keeps facts, by the name of its backend."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.errors import ConfigError
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.entry import Backend, BackendKind


def open_backend(name: str, path: Path) -> Backend:
    """The backend `name` at `path`, which is that of the JSON file of facts.

    Raises:
        ConfigError: there is no backend of that name.
    """
    kinds: dict[str, BackendKind] = {kind.name: kind for kind in discover(backends, "BACKEND").values()}
    if name not in kinds:
        raise ConfigError("There is no memory backend {name}.", name=name, hint=f"Known: {', '.join(kinds)}")
    return kinds[name].open(path)
