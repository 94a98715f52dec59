"""The program as a process of its own, against a scripted server over a real socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server.endpoint import ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Program:
    """`codeagent` in `folder`, with a home of its own and nothing else in its environment."""

    folder: Path
    home: Path

    def start(self, server: ScriptedEndpoint, *argv: str) -> subprocess.Popen[bytes]:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "CODEAGENT_HOME": str(self.home / ".code-agent-cli"),
            "CODEAGENT_MODEL": "scripted",
            "CODEAGENT_CONTEXT_WINDOW": "1000000",
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.base_url,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "codeagent", *argv],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, server: ScriptedEndpoint, *argv: str) -> tuple[int, dict[str, Any]]:
        """(exit code, the result object) of a run with `--output-format json`."""
        process = self.start(server, "--output-format", "json", *argv)
        out, err = process.communicate()
        assert out, err.decode()
        return process.returncode, json.loads(out)

    @property
    def sessions(self) -> list[Path]:
        return sorted((self.home / ".code-agent-cli" / "history").glob("*/*.jsonl"))


def whole_lines(data: bytes) -> Iterator[dict[str, Any]]:
    """The records of JSON lines; an unfinished last one is left out."""
    for line in data[: data.rfind(b"\n") + 1].splitlines():
        yield json.loads(line)
