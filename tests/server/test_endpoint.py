"""The scripted server itself, spoken to with plain sockets and urllib: nothing of ours on the other side."""

import asyncio
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from codeagent.llm.providers.scripted import call, calls, say
from tests.server.endpoint import Disconnect, Pause, Response, ScriptedEndpoint, chunk, refusal, sse


def post(url: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as response:
        return bytes(response.read())


def events(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.split(b"\n\n") if line and not line.endswith(b"[DONE]")]


def test_steps_become_streams_and_requests_are_recorded() -> None:
    with ScriptedEndpoint([calls(say("我看看。"), call("read_file", path="a.py")), say("Done.")]) as server:
        first = events(post(server.base_url, {"messages": [{"role": "user", "content": "hi"}]}))
        second = post(server.base_url, {"messages": []})
    assert [one["choices"][0]["delta"] for one in first if one["choices"]] == [
        {"role": "assistant", "content": ""},
        {"content": "我看看。"},
        {
            "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a.'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": 'py"}'}}]},
        {},
    ]
    assert second.endswith(b"data: [DONE]\n\n")
    assert [one.messages for one in server.requests] == [[{"role": "user", "content": "hi"}], []]
    assert server.leftover == []


def test_a_used_up_script_refuses() -> None:
    with ScriptedEndpoint([]) as server, pytest.raises(urllib.error.HTTPError, match="400"):
        post(server.base_url, {"messages": []})


def test_models_and_further_routes_are_answered() -> None:
    with ScriptedEndpoint([], models=("m1",), routes={"/api/show": refusal(418, "teapot")}) as server:
        with urllib.request.urlopen(server.base_url + "/models", timeout=10) as response:
            assert json.load(response) == {"object": "list", "data": [{"id": "m1", "object": "model"}]}
        with pytest.raises(urllib.error.HTTPError, match="418"):
            urllib.request.urlopen(server.base_url[:-3] + "/api/show", timeout=10)


async def test_bytes_are_written_as_scripted() -> None:
    raw = Response((b"HTTP/1.1 200 OK\r\n", Pause(0.01), b"oops", Disconnect()), framed=False)
    async with ScriptedEndpoint([raw]) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        assert await reader.read() == b"HTTP/1.1 200 OK\r\noops"
        writer.close()


async def test_a_client_that_goes_away_is_noticed_and_a_connection_is_kept() -> None:
    slow = sse(chunk({"content": "a"}), Pause(30), chunk({"content": "b"}))
    async with ScriptedEndpoint([say("quick"), slow]) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for last in (b"[DONE]\n\n", b"\n\n"):
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            await reader.readuntil(last)
        writer.close()
        async with asyncio.timeout(5):
            while not server.hung_up:
                await asyncio.sleep(0.01)
        assert (server.connections, server.hung_up, len(server.requests)) == (1, 1, 2)


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "steps.json"
    script.write_text(json.dumps([{"text": "hello"}]), "utf-8")
    command = [sys.executable, "-m", "tests.server.endpoint", "--script", str(script), "--repeat"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        answers = {post(url, {"messages": []}) for _ in range(3)}
        server.terminate()
    assert len(answers) == 1
    assert b"hello" in answers.pop()
