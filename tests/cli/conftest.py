"""The command line, run in this process: (arguments) -> (exit code, standard output, standard error)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codeagent.cli.entry import run
from codeagent.core.paths import Home

ROOT = Path(__file__).resolve().parents[2]


def program(*argv: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """The program in a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-m", "codeagent", *argv], env=environ, capture_output=True, **more)


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Said]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home, and no key in the environment."""
    for name in list(os.environ):
        if name.startswith("CODEAGENT_") or name.endswith("_API_KEY") or name == "OPENAI_BASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("CODEAGENT_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in."""
    folder = tmp_path / "项目"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(home: Home, project: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*argv: str) -> Said:
        code = run(argv)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return call
