"""Open the place that keeps facts, by the name of its backend."""

from __future__ import annotations

from pathlib import Path

from codeagent.core.errors import ConfigError
from codeagent.core.events import Notice
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.entry import Backend, BackendKind
from codeagent.memory.merging import identity

_ELSEWHERE = (
    "{count} facts of all projects in {path} are not in the backend in use, {name}: "
    "`codeagent memory export FILE --backend {other}`, then `codeagent memory import FILE`, takes them over."
)
_ELSEWHERE_ONE = _ELSEWHERE.replace("{count} facts of all projects in {path} are", "{count} fact in {path} is").replace(
    "takes them", "takes it"
)


def elsewhere(name: str, path: Path) -> Notice | None:
    """A hint when a file of another backend than `name` holds facts that are not in its own; `path` as for
    `open_backend`. Reads both files.

    Raises:
        ConfigError: there is no backend of that name.
    """
    held: set[tuple[str, str | None, str]] | None = None
    for other in _kinds():
        store = open_backend(other, path)
        if other == name or not store.path.is_file():
            continue
        if held is None:
            held = {identity(fact) for fact in open_backend(name, path).load()}
        count = sum(fact.forgotten is None and identity(fact) not in held for fact in store.load())
        if count:
            told = {"count": count, "path": store.path, "other": other, "name": name}
            return Notice(_ELSEWHERE_ONE if count == 1 else _ELSEWHERE, told)
    return None


def open_backend(name: str, path: Path) -> Backend:
    """The backend `name` at `path`, which is that of the JSON file of facts.

    Raises:
        ConfigError: there is no backend of that name.
    """
    kinds = _kinds()
    if name not in kinds:
        raise ConfigError("There is no memory backend {name}.", name=name, hint=f"Known: {', '.join(kinds)}")
    return kinds[name].open(path)


def _kinds() -> dict[str, BackendKind]:
    return {kind.name: kind for kind in discover(backends, "BACKEND").values()}
