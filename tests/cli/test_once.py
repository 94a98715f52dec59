"""One shot as a program of its own, against a scripted server over a real socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from codeagent.core.paths import Home
from codeagent.llm.providers.scripted import call, say
from tests.cli.conftest import ROOT, Cli, Said
from tests.server.endpoint import Pause, Response, ScriptedEndpoint


@pytest.fixture
def environ(home: Home, project: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name, value in {"OPENAI_API_KEY": "k", "CODEAGENT_MODEL": "m", "CODEAGENT_CONTEXT_WINDOW": "128000"}.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, "PYTHONPATH": str(ROOT)}


Ask = Callable[..., Said]


@pytest.fixture
def ask(cli: Cli, environ: dict[str, str]) -> Ask:
    """A run in this process."""
    return lambda server, *argv: cli("--base-url", server.base_url, *argv)


def start(environ: dict[str, str], server: ScriptedEndpoint, *argv: str, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "codeagent", "--base-url", server.base_url, *argv],
        env=environ,
        stderr=subprocess.PIPE,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **more},
    )


def said_by_user(server: ScriptedEndpoint, number: int = -1) -> str:
    return str(server.requests[number].json["messages"][-1]["content"])


def test_the_answer_to_words_and_piped_input(environ: dict[str, str]) -> None:
    with ScriptedEndpoint([say("好。")]) as server:
        process = start(environ, server, "-p", "总结", stdin=subprocess.PIPE)
        out, err = process.communicate("一二三\n".encode("gbk"))
    assert (process.returncode, out, err) == (0, "好。\n".encode(), b"")
    assert said_by_user(server) == "总结\n\n一二三"


def test_piped_input_alone_is_the_prompt_also_without_a_flag(environ: dict[str, str]) -> None:
    with ScriptedEndpoint([say("Hi.")]) as server:
        out, _ = start(environ, server, stdin=subprocess.PIPE).communicate(b"hello")
    assert (out, said_by_user(server)) == (b"Hi.\n", "hello")


def test_without_a_terminal_nothing_is_asked_and_the_model_is_told(ask: Ask, project: Path) -> None:
    with ScriptedEndpoint([call("write_file", path="a.txt", content="x"), say("I may not.")]) as server:
        (denial,) = ask(server, "-o", "json", "-p", "write").json["permission_denials"]
    assert (denial["tool"], denial["subject"]) == ("write_file", str(project / "a.txt"))
    assert not (project / "a.txt").exists()


def test_messages_as_lines_are_turns_of_one_session(environ: dict[str, str]) -> None:
    lines = b"".join(
        json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"
        for text in ("one", "two")
    )
    with ScriptedEndpoint([say("First."), say("Second.")]) as server:
        process = start(
            environ,
            server,
            *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
            stdin=subprocess.PIPE,
        )
        out, _ = process.communicate(lines + b"\n")
    results = [json.loads(line) for line in out.splitlines() if b'"type":"result"' in line]
    assert (process.returncode, [result["result"] for result in results]) == (0, ["First.", "Second."])
    assert len({result["session_id"] for result in results}) == 1


@pytest.mark.parametrize(("status", "code"), [(401, 1), (503, 75), (400, 1)])
def test_a_refusal_has_its_exit_code(ask: Ask, status: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_MAX_RETRIES", "0")
    with ScriptedEndpoint([Response((b'{"error":{"message":"no"}}',), status=status)]) as server:
        said = ask(server, "-o", "json", "-p", "hi")
    assert (said.code, said.json["subtype"], said.json["is_error"]) == (code, "error", True)
    assert said.json["error"] in said.err


def test_no_model_is_a_sentence_and_an_object(cli: Cli) -> None:
    said = cli("--provider", "no-such", "-o", "json", "-p", "hi")
    assert (said.code, said.json["is_error"]) == (2, True)
    assert said.json["error"] in said.err


SILENCE = Response((Pause(60.0),))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_in_good_order(environ: dict[str, str], number: signal.Signals, ask: Ask) -> None:
    with ScriptedEndpoint([SILENCE, say("Again.")]) as server:
        process = start(environ, server, "-o", "json", "-p", "hi")
        _wait_for(server, 1)
        process.send_signal(number)
        out, err = process.communicate()
        result = json.loads(out)
        assert (process.returncode, result["subtype"], err) == (130, "error_interrupted", b"Interrupted.\n")
        assert ask(server, "-r", result["session_id"], "-p", "go on") == Said(0, "Again.\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_runs_is_ended_with_the_run(
    environ: dict[str, str], project: Path, number: signal.Signals
) -> None:
    with ScriptedEndpoint([call("shell", command="echo $$ > pid; sleep 60 & wait")]) as server:
        process = start(environ, server, "-y", "-p", "hi")
        while not (project / "pid").exists() or not (project / "pid").read_text():
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 130
    assert _alive(int((project / "pid").read_text())) == []


def _alive(group: int) -> list[str]:
    """Names of the processes of a group. What has ended and waits for its parent's look is not alive."""
    found = []
    for process in psutil.process_iter(["name", "status"]):
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                found.append(process.info["name"])
    return found


def test_the_time_is_over(environ: dict[str, str]) -> None:
    with ScriptedEndpoint([SILENCE]) as server:
        process = start({**environ, "CODEAGENT_TIMEOUT": "1"}, server, "-o", "json", "-p", "hi")
        out, err = process.communicate()
    assert (process.returncode, json.loads(out)["subtype"]) == (124, "error_timeout")
    assert err == b"Stopped: the time given by --timeout is over.\n"


def test_a_cap_is_reached(ask: Ask) -> None:
    with ScriptedEndpoint([call("glob", pattern="*"), call("glob", pattern="*")]) as server:
        said = ask(server, "--max-turns", "2", "-o", "json", "-p", "hi")
    assert (said.code, said.json["subtype"], said.json["num_turns"]) == (53, "error_max_turns", 2)


def test_a_reader_that_goes_away_stops_nothing(environ: dict[str, str], project: Path) -> None:
    steps = [call("write_file", path="a.txt", content="x"), say("Done.")]
    with ScriptedEndpoint(steps) as server:
        process = start(environ, server, "-y", "-o", "stream-json", "-p", "hi")
        assert process.stdout is not None
        process.stdout.close()
        process.wait()
    assert (process.returncode, (project / "a.txt").read_text()) == (0, "x")


def test_a_full_disk_behind_standard_output_stops_nothing_and_is_told(environ: dict[str, str], project: Path) -> None:
    steps = [call("write_file", path="a.txt", content="x"), say("Done.")]
    with ScriptedEndpoint(steps) as server, Path("/dev/full").open("wb") as full:
        process = start(environ, server, "-y", "-o", "stream-json", "-p", "hi", stdout=full)
        _, err = process.communicate()
    assert (process.returncode, (project / "a.txt").read_text()) == (1, "x")
    assert err == b"Standard output cannot be written: No space left on device.\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_run_without_standard_streams_does_its_work(environ: dict[str, str], project: Path, closed: str) -> None:
    steps = [call("shell", command="echo x > a.txt"), say("Done.")]
    with ScriptedEndpoint(steps) as server:
        command = f"exec {sys.executable} -m codeagent --base-url {server.base_url} -y -p hello {closed}"
        done = subprocess.run(["sh", "-c", command], env=environ, capture_output=True)
    assert (done.returncode, (project / "a.txt").read_text()) == (0, "x\n")
    assert (done.stdout, done.stderr) == (b"Done.\n" if closed == "2>&-" else b"", b"")


def test_a_prompt_is_not_held_up_by_a_pipe_that_says_nothing(environ: dict[str, str]) -> None:
    with ScriptedEndpoint([say("Hi.")]) as server:
        process = start(environ, server, "-p", "hello", stdin=subprocess.PIPE)
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read() == b"Hi.\n"
        assert process.stderr.read().startswith(b"Nothing came through the pipe")
        process.communicate()
    assert process.returncode == 0


def test_continue_without_a_session_says_so_and_begins(ask: Ask) -> None:
    with ScriptedEndpoint([say("New."), say("Old.")]) as server:
        first, second = ask(server, "-c", "-p", "one"), ask(server, "-cp", "two")
        roles = [message["role"] for message in server.requests[-1].json["messages"]]
    assert (first.out, first.err.count("\n"), second) == ("New.\n", 1, Said(0, "Old.\n", ""))
    assert roles == ["system", "user", "assistant", "user"]


def test_a_closed_standard_input(environ: dict[str, str]) -> None:
    with ScriptedEndpoint([say("Hi.")]) as server:
        command = f"exec {sys.executable} -m codeagent --base-url {server.base_url} -p hello <&-"
        done = subprocess.run(["sh", "-c", command], env=environ, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"Hi.\n")


def _wait_for(server: ScriptedEndpoint, requests: int) -> None:
    while len(server.requests) < requests:
        time.sleep(0.01)
