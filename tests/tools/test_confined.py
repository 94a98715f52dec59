"""Commands in the sandbox: what was refused is told, and the person may lift it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.agent.shell import run_typed
from codeagent.core.events import ToolFinished
from codeagent.core.tools import ToolResult
from codeagent.core.ui import Answer
from codeagent.tools.checks import Checks
from codeagent.tools.toolbox import Toolbox, builtin_tools
from tests.tools.world import World, make_world

pytestmark = pytest.mark.landlock

TOLD = (
    "The sandbox refused: the network. Commands write only in the project, in temporary folders and in caches; "
    "keys are not read."
)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[World]:
    """A world whose commands are in the strict sandbox."""
    made = make_world(tmp_path, strict=True)
    yield made
    await made.jobs.aclose()


@pytest.fixture
def call() -> Iterator[str]:
    """A command that reaches a server of this machine, unless it is kept from it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"echo $((40 + 2)) > /dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached"


async def test_a_yes_runs_it_again_outside(held: World, call: str) -> None:
    held.person.answers = [Answer("once")]
    assert await held.run("shell", command=call) == ToolResult(
        "reached\n[exit 0]\n[The sandbox had refused something; the user let it run again outside the sandbox.]",
        summary="exit 0",
    )


async def test_a_no_is_told(held: World, call: str) -> None:
    held.person.answers = [Answer("no")]
    result = await held.run("shell", command=call)
    assert result.text.endswith(f"[exit 1]\n[{TOLD} The user said no to running it outside.]")
    assert (result.failed, "reached" in result.text) == (True, False)


async def test_always_is_not_asked_again_and_not_refused(held: World, call: str) -> None:
    held.person.answers = [Answer("always")]
    await held.run("shell", command=call)
    assert await held.run("shell", command=call) == ToolResult("reached\n[exit 0]", summary="exit 0")
    assert len(held.person.asked) == 1


async def test_behind_a_pipe_it_is_seen_too(held: World, call: str) -> None:
    held.person.answers = [Answer("once")]
    result = await held.run("shell", command=f"({call}) 2>&1 | tail -5")
    assert result.text.startswith("reached\n")


async def test_what_failed_of_itself_is_not_asked_about(held: World) -> None:
    assert await held.run("shell", command="exit 3") == ToolResult(
        "(no output)\n[exit 3]", failed=True, summary="exit 3"
    )
    assert held.person.asked == []


async def test_in_the_background_it_is_told_when_it_is_read(held: World, call: str) -> None:
    await held.run("shell", command=f"sleep 0.6; {call}", background=True)
    result = await held.run("shell_job", action="read", id="job1", wait=20)
    assert result.text.endswith(f"[exit 1]\n[{TOLD}]")


async def test_a_check_is_confined_like_a_command(held: World, call: str) -> None:
    box = Toolbox(builtin_tools(), held.gate, Checks({"*.txt": call}))
    held = replace(held, toolbox=box)
    result = await held.run("write_file", path="a.txt", content="x\n")
    assert "failed (exit 1)" in result.text


async def test_what_the_person_types_is_not(held: World, call: str) -> None:
    events = [event async for event in run_typed(call, held.ctx)]
    finished = events[-1]
    assert isinstance(finished, ToolFinished)
    assert finished.result.text == "reached\n[exit 0]"
