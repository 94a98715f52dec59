"""What a killed process leaves running: nothing. What it was spared keeps running."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from codeagent.tools.deathwatch import DeathWatch
from codeagent.tools.jobs import JobTable

_PROGRAM = """
import asyncio, json, os, sys
from pathlib import Path
from codeagent.tools.jobs import JobTable

async def main():
    jobs = JobTable()
    for command in json.loads(sys.argv[1]):
        jobs.start(command, cwd=Path(sys.argv[2]), environ=dict(os.environ))
    await asyncio.sleep(600)

asyncio.run(main())
"""
COMMANDS = {
    "the command": "echo $$ > pid; sleep 600; true",
    "what it started in the background": "sleep 600 > /dev/null 2>&1 & echo $! > pid; wait",
    "what went to a session of its own": "setsid sh -c 'echo $$ > pid; exec sleep 600' & wait",
    "what heeds no polite signal": "trap '' TERM; echo $$ > pid; while true; do sleep 600; done",
}


async def written(path: Path) -> int:
    async with asyncio.timeout(20):
        while not (path.exists() and (text := path.read_text().strip())):
            await asyncio.sleep(0.01)
    return int(text)


async def gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            await asyncio.sleep(0.01)


def watches(mark: str = "") -> list[psutil.Process]:
    """Those of our own process, whose mark is as said."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if "codeagent-watch" in (words := child.cmdline()) and mark in words[-1]:
                found.append(child)
    return found


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
async def test_a_kill_of_the_session_ends(tmp_path: Path, command: str) -> None:
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PROGRAM, json.dumps([command]), str(tmp_path), cwd=Path(__file__).parents[2]
    )
    pid = await written(tmp_path / "pid")
    assert psutil.pid_exists(pid)
    program.send_signal(signal.SIGKILL)
    await program.wait()
    await gone(pid)


async def test_an_orderly_end_leaves_no_watch_behind(tmp_path: Path) -> None:
    jobs = JobTable()
    before = watches()
    job = jobs.start("true", cwd=tmp_path, environ=dict(os.environ))
    jobs.beside().start("true", cwd=tmp_path, environ=dict(os.environ))
    await job.wait(60)
    begun = set(watches()) - set(before)
    await jobs.aclose()
    assert (len(begun), begun & set(watches())) == (1, set())


async def test_a_watch_that_is_gone_or_cannot_begin_harms_nothing(tmp_path: Path) -> None:
    watch = DeathWatch("no such mark")
    watch.end()
    watch.begin({})
    for child in watches("no such mark"):
        child.kill()
    watch.end()
