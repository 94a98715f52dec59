"""The whole program against a real model of 135M: wire, usage and errors mean something with it, its words do not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.outside._llama", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        assert server.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
        server.kill()


def once(folder: Path, base_url: str, *argv: str, piped: str = "") -> tuple[int, Any]:
    """Exit code and result of `codeagent -p`."""
    environ = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "CODEAGENT_HOME": str(folder / "home"),
        "CODEAGENT_BASE_URL": base_url, "CODEAGENT_MAX_OUTPUT_TOKENS": "40", "LANG": "C.UTF-8",
    }  # fmt: skip
    command = [sys.executable, "-m", "codeagent", "-p", "-o", "json", *argv]
    done = subprocess.run(command, cwd=folder, env=environ, input=piped.encode(), capture_output=True)
    return done.returncode, json.loads(done.stdout)


def test_one_shot_is_answered_and_counted(tmp_path: Path, base_url: str) -> None:
    code, result = once(tmp_path, base_url, "你好")
    # So small a model prattles into the limit now and then, which is told by its own exit code.
    assert code in (0, 53)
    assert result["usage"]["prompt_tokens"] > 100
    assert 0 < result["usage"]["completion_tokens"] <= 40


def test_a_prompt_over_the_window_is_made_to_fit(tmp_path: Path, base_url: str) -> None:
    code, result = once(tmp_path, base_url, "Sum this up", piped="one two three four " * 20_000)
    assert code in (0, 53)
    assert result["usage"]["completion_tokens"] > 0
