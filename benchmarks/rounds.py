"""What a tool round costs the harness: request, stream, `shell` running `true`, journal on disk.

    python -m benchmarks.rounds [rounds]

The time between one request and the next, less nothing: the scripted server answers at once. Beside it a bare loop of
the standard library that does the same with neither journal nor terminal.
"""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from itertools import pairwise

from benchmarks._measure import CODEAGENT, resident_mb, row, world
from codeagent.llm.providers.scripted import call, say
from tests.server.endpoint import Answer, Recorded, ScriptedEndpoint

AT = (10, 100, 300, 500)


def script(rounds: int):  # type: ignore[no-untyped-def]
    asked = 0

    def answer(request: Recorded) -> Answer:
        nonlocal asked
        asked += 1
        return call("shell", command="true") if asked <= rounds else say("Done.")

    return answer


def ours(rounds: int) -> tuple[list[float], dict[int, float]]:
    """Seconds of each round, and resident MB at some."""
    with ScriptedEndpoint(script(rounds)) as server, world(server.base_url) as (project, environ):
        memory: dict[int, float] = {}
        child = subprocess.Popen(
            [CODEAGENT, "-p", "go", "-y", "--max-turns", str(rounds + 1)],
            cwd=project,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        while child.poll() is None:
            time.sleep(0.02)
            for mark in AT:
                if len(server.requests) > mark and mark not in memory:
                    memory[mark] = resident_mb(child.pid)
        if child.returncode != 0 or len(server.requests) != rounds + 1:
            raise SystemExit(f"the run ended with {child.returncode} after {len(server.requests)} requests")
        times = [request.at for request in server.requests]
        return [after - before for before, after in pairwise(times)], memory


def naive(rounds: int) -> list[float]:
    """A bare loop: one connection, whole JSON of the whole conversation each time, subprocess.run."""
    with ScriptedEndpoint(script(rounds)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        messages: list[dict[str, object]] = [{"role": "user", "content": "go"}]

        def loop() -> None:
            for number in range(rounds + 1):
                body = json.dumps({"model": "x", "stream": True, "messages": messages})
                connection.request("POST", "/v1/chat/completions", body)
                connection.getresponse().read()
                subprocess.run(["bash", "-c", "true"], check=True)
                messages.append({"role": "assistant", "content": f"call {number}" * 8})
                messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "exit code 0"})

        thread = threading.Thread(target=loop)
        thread.start()
        thread.join()
        times = [request.at for request in server.requests]
        return [after - before for before, after in pairwise(times)]


def around(times: list[float], mark: int) -> float:
    """Median of the ten rounds up to `mark`, in ms."""
    return statistics.median(times[max(0, mark - 10) : mark]) * 1000


def main(rounds: int) -> None:
    bare, (times, memory) = naive(rounds), ours(rounds)
    marks = [mark for mark in AT if mark <= rounds]
    row("round", *(str(mark) for mark in marks))
    row("codeagent, ms", *(f"{around(times, mark):.2f}" for mark in marks))
    row("bare loop, ms", *(f"{around(bare, mark):.2f}" for mark in marks))
    row("codeagent against its round 10", *(f"{around(times, mark) / around(times, 10):.2f}" for mark in marks))
    row("codeagent resident, MB", *(f"{memory[mark]:.0f}" if mark in memory else "-" for mark in marks))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
