"""Where things are: the home, a project, a session. Pure path values; nothing is read or made here."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".code-agent-cli"
TATTOO = "tattoo.md"
"""The file of hard constraints, in the memory folder of a project and of the home."""


def secrets_of(session: Path) -> Path:
    """Which secrets the names stand for that the session file holds in their place: `{"names": {name: secret}}`."""
    return session.with_suffix(".secrets.json")


@dataclass(frozen=True, slots=True)
class Home:
    """The user's folder (`CODEAGENT_HOME`, by default `~/.code-agent-cli`)."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def instructions(self) -> Path:
        return self.root / "CODEAGENT.md"

    @property
    def history(self) -> Path:
        return self.root / "history"

    @property
    def facts(self) -> Path:
        return self.root / "memory" / "long_term_memory.json"

    @property
    def tattoo(self) -> Path:
        return self.root / "memory" / TATTOO

    @property
    def guarded(self) -> Path:
        """What the files of hard constraints said when that last counted."""
        return self.root / "guarded"

    @property
    def code(self) -> Path:
        return self.root / "rag" / "codebase.db"

    @property
    def calibration(self) -> Path:
        return self.root / "calibration.json"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def windows(self) -> Path:
        """How long a context each endpoint and model takes."""
        return self.cache / "windows.json"

    @property
    def profiles(self) -> Path:
        """What each endpoint and model has taught."""
        return self.cache / "profiles.json"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints" / "store.db"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def trust(self) -> Path:
        return self.root / "trust.json"


@dataclass(frozen=True, slots=True)
class Project:
    """A project: where one works (`cwd`), the top of its work tree, and what identifies it across worktrees."""

    cwd: Path
    """Real path of the working folder."""
    top: Path
    """Real path of the work tree's top (the working folder where there is no repository)."""
    identity: Path
    """Real path of the git common folder's parent, which worktrees share (else of the working folder)."""

    @property
    def id(self) -> str:
        """`<name>-<first 12 hex digits of sha256 of identity>`; equal-looking names never collide."""
        digest = hashlib.sha256(str(self.identity).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        name = re.sub(r"[^\w.-]+", "-", self.identity.name).strip("-.") or "root"
        return f"{name}-{digest}"

    @property
    def folder(self) -> Path:
        return self.top / FOLDER


def session_file(home: Home, project_id: str, session_id: str) -> Path:
    return home.history / project_id / f"{session_id}.jsonl"
