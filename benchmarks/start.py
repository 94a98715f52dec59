"""How long until something happens: version, prompt, first request, Enter to request.

python -m benchmarks.start [runs]
"""

from __future__ import annotations

import sys
import time

from benchmarks._measure import CODEAGENT, PYTHON, Terminal, median, row, wall, world
from codeagent.llm.providers.scripted import say
from tests.server.endpoint import ScriptedEndpoint

BARE = "from prompt_toolkit import PromptSession; PromptSession('❯ ').prompt()"
CLIENT = "import openai; openai.AsyncOpenAI(api_key='x')"


def echo(terminal: Terminal) -> float:
    """Seconds from the spawn until a typed letter is on the screen."""
    try:
        terminal.wait("❯".encode())
        seen = len(terminal.output)
        terminal.send("z")
        return terminal.wait(b"z", since=seen)
    finally:
        terminal.close()


def main(runs: int) -> None:
    with ScriptedEndpoint(lambda request: say("Done.")) as server, world(server.base_url) as (project, environ):

        def first_request() -> float:
            before, started = len(server.requests), time.monotonic()
            wall([CODEAGENT, "-p", "hi"], environ | {"PWD": str(project)})
            return server.requests[before].at - started

        def prompt_echo() -> float:
            return echo(Terminal([CODEAGENT], cwd=project, environ=environ))

        def bare_echo() -> float:
            return echo(Terminal([PYTHON, "-c", BARE], cwd=project, environ=environ))

        python = median(lambda: wall([PYTHON, "-c", "pass"]), runs)
        version = median(lambda: wall([CODEAGENT, "--version"]), runs)
        client = median(lambda: wall([PYTHON, "-c", CLIENT]), runs)
        oneshot = median(first_request, runs)
        bare = median(bare_echo, runs)
        prompt = median(prompt_echo, runs)
        row("", "median ms", "against", "ms", "ratio")
        for name, ours, against, theirs in (
            ("--version", version, "python -c pass", python),
            ("one-shot, spawn to first request", oneshot, "openai client", client),
            ("spawn to a prompt that echoes", prompt, "bare prompt", bare),
        ):
            row(name, f"{ours * 1000:.0f}", against, f"{theirs * 1000:.0f}", f"{ours / theirs:.2f}")
        row("Enter to request, warm", f"{enter_to_request(server, project, environ, runs) * 1000:.1f}")


def enter_to_request(server: ScriptedEndpoint, project, environ, runs: int) -> float:  # type: ignore[no-untyped-def]
    terminal = Terminal([CODEAGENT], cwd=project, environ=environ)
    try:
        terminal.wait("❯".encode())
        end = time.monotonic() + 4
        while time.monotonic() < end:
            terminal.read(0.1)

        def once() -> float:
            before = len(server.requests)
            terminal.send("hello")
            terminal.read(0.3)
            started = time.monotonic()
            terminal.send("\r")
            while len(server.requests) == before:
                terminal.read(0.002)
            took = server.requests[before].at - started
            end = time.monotonic() + 0.6
            while time.monotonic() < end:
                terminal.read(0.1)
            return took

        return median(once, runs)
    finally:
        terminal.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
