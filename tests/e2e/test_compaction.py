"""A long session in a small window, in a real terminal: it is compacted again and again, and an early rule stays."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.entries import Usage
from codeagent.core.tokens import estimate_classes
from codeagent.llm.providers.scripted import Step, call
from tests.agent._survival import INSTRUCTION
from tests.e2e.program import ROOT, whole_lines
from tests.e2e.terminal import Terminal
from tests.laws.requests import unpaired
from tests.server.endpoint import Recorded, ScriptedEndpoint

RULES = ("never touch vendor/", "不要改 vendor/")
READS = 16
COMPACTED = "Context compacted: "


def is_turn(request: Recorded) -> bool:
    """Not one that asks for a summary."""
    first, *_, last = request.messages
    return first["role"] == "system" and not str(last["content"]).startswith(INSTRUCTION)


def answer(request: Recorded) -> Step:
    """Reads one file after the other, told by the last call in the request, and sums up in platitudes."""
    used = Usage(estimate_classes(request.body), 10)
    if not is_turn(request):
        return Step("We made good progress, 一切顺利。", usage=used)
    last = request.messages[-1]
    if last["role"] == "user" and RULES[0] not in last["content"]:
        return Step(f"Heard: {last['content'][-9:]}", usage=used)
    done = int(last["tool_call_id"].rpartition("_")[2]) if last["role"] == "tool" else 0
    if done >= READS:
        return Step("All read, 全部读完。", usage=used)
    return Step(calls=call("read_file", path=f"m{done}.txt").calls, usage=used)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "CODEAGENT_HOME": str(tmp_path / "home"),
        "CODEAGENT_MODEL": "scripted",
        "CODEAGENT_CONTEXT_WINDOW": "16000",
        "OPENAI_API_KEY": "k",
    }


def texts(request: Recorded) -> str:
    return "\n".join(str(message["content"]) for message in request.messages)


def records(home: Path, kind: str) -> list[dict[str, Any]]:
    (session,) = home.glob("history/*/*.jsonl")
    return [line for line in whole_lines(session.read_bytes()) if line["type"] == kind]


@pytest.mark.parametrize("columns", [100, 40])
def test_an_early_rule_outlives_three_compactions(tmp_path: Path, environ: dict[str, str], columns: int) -> None:
    folder = tmp_path / "项目"
    folder.mkdir()
    for number in range(READS):
        (folder / f"m{number}.txt").write_text(f"模块 {number}: some code = {number} * 3\n" * 90, "utf-8")
    with ScriptedEndpoint(answer) as server:
        command = [sys.executable, "-m", "codeagent", "-y"]
        environ["OPENAI_BASE_URL"] = server.base_url
        with Terminal(command, cwd=folder, environ=environ, columns=columns, rows=30, timeout=60) as terminal:
            terminal.wait_for("? for keys" if columns > 60 else "❯")
            terminal.say(f"Read all modules, but {RULES[0]}, {RULES[1]}。")
            terminal.wait_for("全部读完。")
            terminal.settle()
            compactions = len(records(tmp_path / "home", "compaction"))
            assert compactions >= 3
            assert told(terminal).count(COMPACTED) == compactions
            terminal.say("/compact show")
            terminal.wait_for("/compact undo")
            terminal.say("/compact")
            terminal.settle()
            terminal.say("/compact undo")
            terminal.wait_for("taken back")
            terminal.say("现在呢？")
            terminal.wait_for("Heard: ")
            terminal.press("Ctrl-D")
            assert terminal.wait_exit() == 0
    check(server, compactions)
    assert [line["of"] for line in records(tmp_path / "home", "undo")] == [f"c{compactions + 1}"]


def told(terminal: Terminal) -> str:
    """All that was shown, as one line."""
    return " ".join(terminal.everything.split())


def check(server: ScriptedEndpoint, compactions: int) -> None:
    """The rule is in every request; after the undo the exact messages are back."""
    for request in server.requests:
        assert unpaired([json.dumps(message).encode() for message in request.messages]) == []
    turns = [request for request in server.requests if is_turn(request)]
    assert [rule for request in turns for rule in RULES if rule not in texts(request)] == []
    *_, before, after = turns
    answered = {"role": "assistant", "content": "All read, 全部读完。"}
    assert after.messages[1:-1] == [*before.messages[1:], answered]
