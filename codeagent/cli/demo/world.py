"""Where the demonstration happens: a temporary folder with a home and a small repository."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import CodeAgentError
from codeagent.core.paths import Home

PYTHON = Path(sys.executable).name
"""How the interpreter that runs this is called in commands; its folder comes first in the world's PATH."""


@dataclass(frozen=True, slots=True)
class World:
    folder: Path
    environ: Mapping[str, str]
    """The person's environment without settings of theirs."""

    @property
    def home(self) -> Home:
        return Home(self.folder / "home")

    @property
    def project(self) -> Path:
        return self.folder / "till"

    def write_steps(self, name: str, steps: bytes) -> Path:
        """Keep the model's part of a sitting where the scripted provider reads it."""
        path = self.folder / f"{name}.json"
        path.write_bytes(steps)
        return path


@contextmanager
def temporary_world(environ: Mapping[str, str], files: Mapping[str, str], *, keep: bool) -> Iterator[World]:
    """A world with `files` in its repository; removed at the end unless it is to be kept.

    Raises:
        CodeAgentError: there is nowhere to write.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="codeagent-demo-")).resolve()
    except OSError as error:
        raise CodeAgentError("No temporary folder can be made: {reason}", reason=error) from error
    try:
        world = World(folder, _environment(environ))
        _make_repository(world.project, files)
        yield world
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if not name.startswith("CODEAGENT_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), environ.get("PATH", os.defpath)])
    # Without files of bytecode: an edit within the second it was compiled in would not be seen.
    return {**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _make_repository(folder: Path, files: Mapping[str, str]) -> None:
    """What git itself would see as a new repository, made without needing git."""
    for part in ("objects", "refs/heads"):
        (folder / ".git" / part).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
