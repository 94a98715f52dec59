"""A command that takes long, moved to the background by a key and looked after from the prompt."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal

COMMAND = "echo 第一行; echo second; until test -e go; do sleep 0.05; done; echo over; touch said; sleep 300"


@pytest.mark.parametrize("columns", [40, 100])
def test_control_b_moves_a_running_command_to_the_background(tmp_path: Path, columns: int) -> None:
    project, script = tmp_path / "项目", tmp_path / "script.json"
    project.mkdir()
    steps = [{"calls": [{"name": "shell", "arguments": {"command": COMMAND}}]}, {"text": "It goes on."}]
    script.write_text(json.dumps(steps), "utf-8")
    argv = [sys.executable, "-m", "codeagent", "--provider", "scripted", "--base-url", str(script), "--yolo"]
    environ = {"HOME": str(tmp_path), "CODEAGENT_HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    with Terminal(argv, cwd=project, environ=environ, columns=columns, rows=30) as terminal:
        terminal.wait_for("❯")
        terminal.say("start it")
        terminal.wait_for("第一行")
        terminal.wait_for("  second")
        terminal.press("Ctrl-B")
        terminal.wait_for("background job1")
        terminal.wait_for("It goes on.")
        (project / "go").touch()
        while not (project / "said").exists():
            time.sleep(0.01)
        terminal.say("/tasks read job1")
        terminal.wait_for("over")
        terminal.wait_for("running")
        terminal.say("/tasks kill job1")
        terminal.wait_for("job1 is dead.")
        terminal.say("/exit")
        terminal.wait_for("--resume")
