"""Plan mode, a question and the todo list in the whole program, at a real terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import ROOT
from tests.e2e.terminal import Terminal

STEPS = ("读解析器的代码", "ask what is wanted", "写文件")


def todo(done: int) -> dict[str, Any]:
    items = [
        {"content": step, "state": "done" if at < done else "in_progress" if at == done else "pending"}
        for at, step in enumerate(STEPS)
    ]
    return {"calls": [{"name": "todo", "arguments": {"items": items}}]}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


SCRIPT = [
    todo(1),
    call("ask_user", question="空行怎么处理？", options=["保留", "drop them"]),
    todo(2),
    call("exit_plan", plan="# 计划\n\n1. 写 `a.txt`"),
    call("exit_plan", plan="# 计划\n\n1. 写 `b.txt`"),
    call("write_file", path="b.txt", content="好\n"),
    {"text": "写好了。"},
]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "项目").mkdir()
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    environ = {
        "HOME": str(tmp_path),
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
    }
    command = [sys.executable, "-m", "codeagent", "--provider", "scripted", "--base-url", str(script)]
    with Terminal(command, cwd=tmp_path / "项目", environ=environ, columns=60, rows=40) as opened:
        yield opened


def test_from_the_plan_to_the_file(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("context")
    terminal.say("/plan 修好解析器")
    terminal.wait_for("空行怎么处理？")
    assert "2. drop them" in terminal.settle()
    terminal.send("3")
    terminal.wait_for("Enter sends")
    terminal.say("只保留一行")
    terminal.wait_for("Carry out this plan?")
    assert "1. 写 a.txt" in terminal.settle()
    terminal.send("4")
    terminal.wait_for("Enter sends")
    terminal.say("写到 b.txt")
    terminal.wait_for("写 b.txt")
    terminal.wait_for("Carry out this plan?")
    assert not (tmp_path / "项目" / "b.txt").exists()
    terminal.settle()
    terminal.send("2")
    terminal.wait_for("写好了。")
    shown = terminal.settle()
    assert "▸ 写文件" in shown
    assert "accept-edits" in shown
    assert (tmp_path / "项目" / "b.txt").read_text() == "好\n"
    terminal.say("/todo")
    terminal.wait_for("under way")
    assert "2 of 3 done" in terminal.settle()
    terminal.press("Ctrl-D")
    assert terminal.wait_exit() == 0
    assert _answers(tmp_path) == ["The user answered: 只保留一行", "写到 b.txt"]


def _answers(folder: Path) -> list[str]:
    """What the person typed into dialogs, as the model read it."""
    (session,) = (folder / "home" / "history").glob("*/*.jsonl")
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    results = [line["message"]["content"] for line in lines if line.get("origin") == "tool"]
    return [results[1], "写到 b.txt" if "写到 b.txt" in results[3] else results[3]]
