"""Trust in a project's configuration: bound to the folder's real path and to what its files say."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

from codeagent.core.errors import StoreError
from codeagent.core.paths import Home, Project
from codeagent.core.private import make_private
from codeagent.workspace import read_regular

PROJECT_FILES = ("config.toml", "config.local.toml")

GUARDED = (
    *("base_url", "api_key", "providers", "permissions", "permission_mode", "max_budget_usd", "web", "secrets"),
    "sandbox",
)
"""What a project may set only when trusted: where requests and keys go, what may happen unasked, what it may cost,
what of the network may be reached, which secrets go along, what keeps commands within bounds."""

OWN = frozenset({"web.private"})
"""What the person's own configuration alone may say, whomever they trust."""

State = Literal["trusted", "changed", "untrusted"]


def needs_trust(key: str, value: object) -> bool:
    """Whether a project's value waits for trust. A model name with a provider in it (`provider/model`) may move the
    conversation to another company's endpoint; a plain one only asks the same endpoint for another model."""
    if key in {"model", "small_model", "embedding_model"}:
        return isinstance(value, str) and "/" in value
    if key == "fallback_models":
        return any("/" in str(one) for one in value) if isinstance(value, list | tuple) else "/" in str(value)
    if key == "tools.checks":
        return not isinstance(value, bool)  # commands
    return key == "memory.git_commit" or key.split(".")[0] in GUARDED


class Trust:
    """The folders that the person trusts, kept in `trust.json` of the home."""

    def __init__(self, home: Home) -> None:
        self._path = home.trust

    def state(self, project: Project) -> State:
        """ "changed": it was trusted, and its files say something else now."""
        known = self._read().get(str(project.top))
        if known is None:
            return "untrusted"
        return "trusted" if known == fingerprint(project) else "changed"

    def grant(self, project: Project) -> None:
        """Trust the project's files as they are now.

        Raises:
            StoreError: the home cannot be written.
        """
        self._write({**self._read(), str(project.top): fingerprint(project)})

    def revoke(self, project: Project) -> bool:
        """Whether there was trust to take back."""
        folders = self._read()
        had = folders.pop(str(project.top), None) is not None
        if had:
            self._write(folders)
        return had

    def _read(self) -> dict[str, str]:
        # What cannot be read grants nothing.
        try:
            data: Any = json.loads(read_regular(self._path))
        except (OSError, ValueError):
            return {}
        folders = data.get("folders") if isinstance(data, dict) else None
        return {str(key): str(value) for key, value in folders.items()} if isinstance(folders, dict) else {}

    def _write(self, folders: dict[str, str]) -> None:
        text = json.dumps({"version": 1, "folders": folders}, ensure_ascii=False, indent=2)
        write_private(self._path, text.encode("utf-8", "surrogateescape") + b"\n")


def fingerprint(project: Project) -> str:
    """Digest of the names and contents of the project's configuration files, hooks and agents."""
    digest = hashlib.sha256()
    for name in (*PROJECT_FILES, *hooks(project), *agents(project)):
        try:
            content = read_regular(project.folder / name)
        except OSError:
            continue
        digest.update(f"{name} {len(content)}\n".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()


def hooks(project: Project) -> list[str]:
    """What stands in the project's `hooks/`, as `hooks/<name>`: it runs only while the folder is trusted."""
    return _inside(project.folder / "hooks")


def agents(project: Project) -> list[str]:
    """What stands in the project's `agents/`: subagents that can be had only while the folder is trusted."""
    return _inside(project.folder / "agents")


def _inside(folder: Path) -> list[str]:
    try:
        return sorted(f"{folder.name}/{path.name}" for path in folder.iterdir())
    except OSError:
        return []


def write_private(path: Path, content: bytes) -> None:
    """Replace `path` as a whole, readable by its owner alone; folders that are missing are made private too.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        make_private(path.parent)
        target = path.resolve()
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(aside).replace(target)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error) from error
