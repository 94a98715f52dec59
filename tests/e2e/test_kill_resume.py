"""A long run that is killed again and again: nothing that anybody was told is lost, and it goes on."""

from __future__ import annotations

import json
import random
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from codeagent.llm.providers.scripted import Step, call, calls, say
from tests.e2e.program import Program, whole_lines
from tests.laws.requests import extends, unpaired
from tests.server.endpoint import Recorded, ScriptedEndpoint

STEPS = 200
KILLS = 5


def work(request: Recorded) -> Step:
    """The next of 200 steps, told by how many replies with calls there are already."""
    done = sum("tool_calls" in message for message in request.messages)
    if done >= STEPS:
        return say("All done, 全部完成。")
    return (
        call("read_file", path="计数.txt"),
        call("edit_file", path="计数.txt", old_string="n", new_string="nn"),
        call("shell", command=f"echo step {done} >> log; seq 40"),
        calls(call("read_file", path="log"), call("glob", pattern="*"), call("read_file", path="gone.txt")),
    )[done % 4]


def encoded(request: Recorded) -> list[bytes]:
    return [json.dumps(message, ensure_ascii=False, sort_keys=True).encode() for message in request.messages]


def test_nothing_acknowledged_is_missing_after_kill_9(tmp_path: Path) -> None:
    (tmp_path / "项目").mkdir()
    (tmp_path / "项目" / "计数.txt").write_text("n\n", "utf-8")
    program = Program(tmp_path / "项目", tmp_path)
    chance = random.Random(2)
    flags = ["-y", "--max-turns", "250", "--output-format", "stream-json", "-p"]
    argv = [*flags, "count"]
    seen = 0
    with ScriptedEndpoint(work) as server:
        for _ in range(KILLS):
            process = program.start(server, *argv)
            assert process.stdout is not None and process.stderr is not None
            printed = b"".join(process.stdout.readline() for _ in range(chance.randrange(20, 160)))
            time.sleep(chance.random() * 0.05)
            process.kill()
            printed += process.stdout.read()
            process.stderr.close()
            process.wait()
            check_printed(program, printed)
            check_requests(program, server.requests[seen:])
            seen = len(server.requests)
            (session,) = program.sessions
            argv = [*flags, "go on", "-r", session.stem]
        process = program.start(server, *argv)
        printed, _ = process.communicate()
        check_printed(program, printed)
        check_requests(program, server.requests[seen:])
    *_, result = whole_lines(printed)
    assert (process.returncode, result["subtype"], result["result"]) == (0, "success", "All done, 全部完成。")
    assert sum("tool_calls" in message for message in server.requests[-1].messages) == STEPS
    assert result["num_turns"] < STEPS


def kept(program: Program) -> list[dict[str, Any]]:
    """The message records of the one session; its lines are numbered without a gap."""
    (session,) = program.sessions
    lines = list(whole_lines(session.read_bytes()))
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    return [line for line in lines if line["type"] == "message"]


def check_printed(program: Program, printed: bytes) -> None:
    """What stood on standard output is in the file."""
    records = kept(program)
    by_id = {record["id"]: record["message"] for record in records}
    results = {record["message"].get("tool_call_id"): record["message"]["content"] for record in records}
    told = list(whole_lines(printed))
    replies = [line for line in told if line["type"] == "assistant"]
    assert replies
    for line in replies:
        assert by_id[line["id"]] == line["message"]
    for line in told:
        if line["type"] == "tool_result":
            assert results[line["tool_call_id"]] == line["content"]


def check_requests(program: Program, requests: list[Recorded]) -> None:
    """What the model was told is in the file; each request is valid, and extends the one before it."""
    messages = [record["message"] for record in kept(program)]
    for request in requests:
        assert request.messages[1:] == messages[: len(request.messages) - 1]
        assert unpaired([json.dumps(message).encode() for message in request.messages]) == []
    for before, after in pairwise(requests):
        assert extends(encoded(after), encoded(before))
