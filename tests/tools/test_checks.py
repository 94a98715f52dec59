"""The user's own checks after a change: which run, for how long, and what of them is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

from codeagent.core.messages import ToolCall
from codeagent.core.tools import Diff, Patch, ToolResult
from codeagent.tools.checks import Checks
from codeagent.tools.toolbox import Toolbox, builtin_tools
from tests.tools.world import World


async def test_a_check_runs_once_for_all_files_that_fit(world: World) -> None:
    changed = Patch(
        (Diff("a.txt", "x", "y"), Diff("sub/b c.txt", None, "y"), Diff("c.md", None, "y"), Diff("d.txt", "", None))
    )
    checks = Checks({"*.txt": "echo {files}; false"})
    assert await checks.look(changed, world.ctx) == [
        "The check `echo a.txt 'sub/b c.txt'; false` failed (exit 1):\na.txt sub/b c.txt"
    ]


async def test_a_check_runs_in_the_project(world: World) -> None:
    assert await Checks({"*": "pwd; false"}).look(Diff("a", None, "x"), world.ctx) == [
        f"The check `pwd; false` failed (exit 1):\n{world.top}"
    ]


async def test_a_check_that_takes_too_long_is_stopped_with_all_it_started(world: World) -> None:
    started = world.top / "started"
    line = "sleep 60 & echo $! > started; wait"
    told = await Checks({"*": line}, seconds=0.5).look(Diff("a", None, "x"), world.ctx)
    assert told == [f"The check `{line}` was stopped after 0.5 seconds."]
    pid = int(started.read_text())
    while Path(f"/proc/{pid}/stat").exists() and " Z " not in Path(f"/proc/{pid}/stat").read_text():
        await asyncio.sleep(0.01)


async def test_a_command_that_does_not_exist_is_told(world: World) -> None:
    ((told,),) = [await Checks({"*": "no-such-program-here {files}"}).look(Diff("a", None, "x"), world.ctx)]
    assert told.startswith("The check `no-such-program-here a` failed (exit 127):\n")


async def test_what_shows_no_change_is_not_checked(world: World) -> None:
    checks = Checks({"*": "false"})
    assert [await checks.look(shown, world.ctx) for shown in (None, "text", Diff("a", "x", None))] == [[], [], []]


async def test_an_interrupted_check_leaves_the_change_told(world: World) -> None:
    box = Toolbox(builtin_tools(), world.gate, Checks({"*": "touch begun; sleep 60"}))
    call = ToolCall("c1", "write_file", '{"path": "a.txt", "content": "x"}')
    running = asyncio.create_task(box.run(call, world.ctx))
    while not (world.top / "begun").exists():
        await asyncio.sleep(0.01)
    running.cancel()
    assert await running == ToolResult(
        "Created a.txt (1 line).\nThe change was made; its checks were interrupted.",
        summary="1 line",
        display=Diff("a.txt", None, "x"),
    )
