"""shell and shell_job with real processes."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from codeagent.core.messages import ToolCall
from codeagent.core.tools import Command, ToolResult
from tests.tools.world import World, make_world


@pytest.fixture
async def hasty(tmp_path: Path) -> AsyncIterator[World]:
    """A world where commands move to the background at once."""
    made = make_world(tmp_path, timeout=0.5)
    yield made
    await made.jobs.aclose()


@pytest.fixture
def nap() -> str:
    """Seconds to sleep that no other process sleeps: the mark by which a test knows its own."""
    return f"9{random.randrange(10**9)}.5"


def alive(mark: str) -> list[int]:
    """Living processes that carry `mark` in their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        words = process.info["cmdline"] or []
        if process.info["status"] != psutil.STATUS_ZOMBIE and mark in words and "-c" not in words:
            found.append(process.pid)
    return found


async def started(mark: str, count: int = 1) -> None:
    """Wait until so many processes carry `mark`."""
    while len(alive(mark)) < count:
        await asyncio.sleep(0.01)


async def ended(mark: str) -> None:
    """Wait until no process carries `mark`: what was killed takes a moment to be gone."""
    async with asyncio.timeout(10):
        while alive(mark):
            await asyncio.sleep(0.01)


async def until(path: Path) -> None:
    """Wait until a command has made `path`."""
    while not path.exists():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("echo hi; echo oops >&2", ToolResult("hi\noops\n[exit 0]", summary="exit 0")),
        ("true", ToolResult("(no output)\n[exit 0]", summary="exit 0")),
        ("echo no; exit 3", ToolResult("no\n[exit 3]", failed=True, summary="exit 3")),
        ("kill -9 $$", ToolResult("(no output)\n[killed by SIGKILL]", failed=True, summary="killed by SIGKILL")),
        ("cat; echo end", ToolResult("end\n[exit 0]", summary="exit 0")),
        ("test -t 0 || test -t 1 || echo none", ToolResult("none\n[exit 0]", summary="exit 0")),
        ("printf '\\033[31mred\\033[0m\\n'", ToolResult("red\n[exit 0]", summary="exit 0")),
        ("printf '\\xc4\\xe3\\xba\\xc3\\n'", ToolResult("你好\n[exit 0]", summary="exit 0")),
        ("[[ a == a* ]] && echo bash", ToolResult("bash\n[exit 0]", summary="exit 0")),
        ("pwd | sed 's|.*/||'", ToolResult("项目\n[exit 0]", summary="exit 0")),
    ],
)
async def test_what_a_command_prints_and_how_it_ends(world: World, command: str, result: ToolResult) -> None:
    assert await world.run("shell", command=command) == result


async def test_a_terminal_is_not_to_be_had(world: World) -> None:
    result = await world.run("shell", command="read x < /dev/tty || echo none")
    assert result.text.endswith("none\n[exit 0]")


async def test_long_output_keeps_both_ends_and_the_whole_is_on_disk(world: World) -> None:
    result = await world.run("shell", command="seq 1 1000000")
    archive = world.top.parent / "archive" / "c1.txt"
    assert len(result.text.encode()) <= 8_192 + len(str(archive))
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("999999\n1000000\n[exit 0]")
    assert (result.partial, result.archive) == (True, "c1.txt")
    assert archive.read_text() == "".join(f"{number}\n" for number in range(1, 1_000_001))
    assert str(archive) in result.text


async def test_output_beyond_memory_is_whole_on_disk(world: World) -> None:
    result = await world.run("shell", command="seq 1 2000000")
    archive = world.top.parent / "archive" / "c1.txt"
    whole = "".join(f"{number}\n" for number in range(1, 2_000_001))
    assert archive.read_text() == whole
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("1999999\n2000000\n[exit 0]")
    (left_out,) = re.findall(r"\[\.\.\. (\d+) bytes left out", result.text)
    shown = len(result.text) - len(result.text.split("[... ")[1].split("...]")[0])
    assert abs(int(left_out) + shown - len(whole)) < 100


async def test_endless_output_is_kept_in_bounded_memory(hasty: World) -> None:
    result = await hasty.run("shell", command="yes 好好好好")
    assert result.summary == "background job1"
    job = hasty.jobs.find("job1")
    assert job is not None
    await hasty.run("shell_job", action="kill", id="job1")
    assert len(job.output().encode()) < 8_500_000
    assert job.size > 8_500_000


@pytest.mark.parametrize(("source", "shown"), [("cat /dev/zero", "^@"), ("tr '\\0' a < /dev/zero", "a")])
async def test_one_endless_line_comes_as_its_ends_and_is_archived_once(world: World, source: str, shown: str) -> None:
    result = await world.run("shell", command=f"{source} | head -c 9000000")
    archive = world.top.parent / "archive" / "c1.txt"
    assert re.fullmatch(rf"({re.escape(shown)})+\n\[\.\.\. .+ \.\.\.\]\n.+\n\[exit 0\]", result.text)
    assert len(result.text) < 9_000
    assert archive.read_text() == shown * 9_000_000


async def test_what_a_job_prints_is_archived_once_however_often_it_is_read(hasty: World) -> None:
    await hasty.run("shell", command="seq 1 100000; until test -e go; do sleep 0.01; done; seq 100001 200000")
    assert await hasty.run("shell_job", action="read", id="job1") == ToolResult(
        "(no new output)\n[running]", summary="running"
    )
    hasty.file("go", "")
    await hasty.run("shell_job", action="read", id="job1", wait=60)
    await hasty.run("shell_job", action="read", id="job1")
    archived = {path.name: path.read_text() for path in (hasty.top.parent / "archive").iterdir()}
    assert archived == {
        "c1.txt": "".join(f"{number}\n" for number in range(1, 100_001)),
        "c3.txt": "".join(f"{number}\n" for number in range(100_001, 200_001)),
    }


async def test_much_output_of_which_little_is_to_be_seen_loses_nothing(world: World) -> None:
    result = await world.run("shell", command="seq 1 200000 | tr '\\n' '\\r'; echo end")
    assert result.text.splitlines()[-2:] == [
        f"[the whole is in {world.top.parent}/archive/c1.txt (read_file with offset, or grep)]",
        "[exit 0]",
    ]
    assert (result.partial, result.archive) == (True, "c1.txt")


async def test_binary_output_is_harmless(world: World) -> None:
    result = await world.run("shell", command=f"head -c 300000 '{sys.executable}'")
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", result.text) is None
    assert len(result.text.encode()) < 9_000


async def test_progress_comes_while_it_runs(tmp_path: Path) -> None:
    pieces: list[str] = []
    world = make_world(tmp_path, progress=pieces.append)
    task = asyncio.create_task(
        world.run("shell", command="echo first; until test -e go; do sleep 0.01; done; echo last")
    )
    while not pieces:
        await asyncio.sleep(0.01)
    assert pieces == ["first\n"]
    world.file("go", "")
    assert await task == ToolResult("first\nlast\n[exit 0]", summary="exit 0")
    await world.jobs.aclose()


async def test_a_line_that_is_drawn_over_is_told_so(tmp_path: Path) -> None:
    pieces: list[str] = []
    world = make_world(tmp_path, progress=pieces.append)
    await world.run("shell", command=r"printf '进度 1%%\r进度 2%%\033[2J'; sleep 0.2")
    assert "".join(pieces) == "进度 1%\r进度 2%"
    await world.jobs.aclose()


async def test_it_runs_in_the_folder_given(world: World) -> None:
    world.file("子/x", "")
    assert (await world.run("shell", command="ls", cwd="子")).text == "x\n[exit 0]"
    assert world.gate.actions[-1].preview == Command("ls", str(world.top / "子"))
    assert (await world.run("shell", command="ls", cwd="nowhere")).text == f"There is no folder {world.top}/nowhere."


@pytest.mark.parametrize("command", ["", "  ", "echo \0"])
async def test_an_impossible_command_is_refused(world: World, command: str) -> None:
    assert (await world.run("shell", command=command)).summary == "bad command"


async def test_past_its_time_it_goes_on_in_the_background(hasty: World) -> None:
    result = await hasty.run("shell", command="echo begun; until test -e go; do sleep 0.01; done; echo done; exit 4")
    assert result == ToolResult(
        "begun\n[still runs after 0.5 s, now in the background as job1: see shell_job]", summary="background job1"
    )
    assert (await hasty.run("shell_job", action="read", id="job1")).text == "(no new output)\n[running]"
    hasty.file("go", "")
    assert await hasty.run("shell_job", action="read", id="job1", wait=60) == ToolResult(
        "done\n[exit 4]", summary="exit 4"
    )
    assert (await hasty.run("shell_job", action="list")).text == (
        "job1: exit 4: echo begun; until test -e go; do sleep 0.01; done; echo done; exit 4"
    )


async def test_the_model_may_give_it_more_time(hasty: World) -> None:
    assert (await hasty.run("shell", command="sleep 0.7; echo done", timeout=60)).text == "done\n[exit 0]"


async def test_a_background_command_is_not_waited_for(world: World, nap: str) -> None:
    result = await world.run("shell", command=f"echo up; exec sleep {nap}", background=True)
    assert result == ToolResult("up\n[runs in the background as job1: see shell_job]", summary="background job1")
    await started(nap)
    assert await world.run("shell_job", action="kill", id="job1") == ToolResult("job1 is dead.", summary="killed")
    assert alive(nap) == []
    assert (await world.run("shell_job", action="list")).text == f"job1: killed by SIGTERM: echo up; exec sleep {nap}"


async def test_a_background_command_that_fails_says_so_at_once(world: World) -> None:
    result = await world.run("shell", command="echo no port; exit 1", background=True)
    assert result == ToolResult("no port\n[exit 1]", failed=True, summary="exit 1")


async def test_what_a_command_leaves_behind_is_told_and_can_be_killed(world: World, nap: str) -> None:
    result = await world.run("shell", command=f"sleep {nap} & echo started")
    assert result.text == "started\n[exit 0; what it started goes on as job1: see shell_job]"
    await started(nap)
    await world.run("shell_job", action="kill", id="job1")
    assert alive(nap) == []


async def test_an_unknown_job_names_those_there_are(world: World) -> None:
    assert (await world.run("shell_job", action="read", id="job7")).text == "There is no job 'job7'. There are: none."
    assert (await world.run("shell_job", action="list")).text == "No background commands."


@pytest.mark.parametrize(
    "command",
    [
        "sleep NAP; true",
        "(sleep NAP; true) & sleep NAP",
        "trap '' TERM; sh -c \"trap '' TERM; sleep NAP; sleep NAP\" & sleep NAP; sleep NAP",
        "timeout 600 sleep NAP",
        "nohup sleep NAP > /dev/null 2>&1 & sleep NAP",
        "set -m; sleep NAP & wait",
    ],
)
async def test_an_interrupt_kills_all_that_the_command_started(world: World, command: str, nap: str) -> None:
    task = asyncio.create_task(world.run("shell", command="touch up; " + command.replace("NAP", nap)))
    await until(world.top / "up")
    await started(nap)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(nap) == []


async def test_an_interrupted_command_hands_back_what_it_printed(world: World) -> None:
    task = asyncio.create_task(world.run("shell", command="echo 一; echo two >&2; touch up; sleep 300"))
    await until(world.top / "up")
    task.cancel()
    assert await task == ToolResult("一\ntwo\n(interrupted)", failed=True, partial=True, summary="interrupted")


async def test_long_output_is_bounded_and_archived_at_an_interrupt_too(world: World) -> None:
    task = asyncio.create_task(world.run("shell", command="seq 1 100000; touch up; sleep 300"))
    await until(world.top / "up")
    task.cancel()
    result = await task
    assert result.text.startswith("1\n2\n3\n")
    assert result.text.endswith("\n99999\n100000\n(interrupted)")
    assert (result.failed, result.partial, result.archive) == (True, True, "c1.txt")
    assert (world.top.parent / "archive" / "c1.txt").read_text() == "".join(
        f"{number}\n" for number in range(1, 100_001)
    )


async def test_what_an_interrupt_meets_on_its_way_to_the_background_is_ended_or_told(tmp_path: Path, nap: str) -> None:
    world = make_world(tmp_path, timeout=0.5)
    flood = f"yes {'x' * 500} | head -c 30000000; touch up; sleep {nap}"
    task = asyncio.create_task(world.run("shell", command=flood))
    await until(world.top / "up")
    while not world.jobs.kept():
        await asyncio.sleep(0.001)
    task.cancel()
    result = await task
    ended = (result.summary, alive(nap)) == ("interrupted", [])
    assert ended or "now in the background as job1" in result.text  # the answer was ready first
    await world.jobs.aclose()


async def test_other_work_goes_on_beside_a_flood(world: World) -> None:
    flood = asyncio.create_task(world.run("shell", command="yes"))
    turns = 0
    for _ in range(50):
        await asyncio.sleep(0.01)
        turns += 1
    await world.run("shell", command="echo beside")
    flood.cancel()
    result = await flood
    assert (turns, result.summary) == (50, "interrupted")


async def test_a_second_interrupt_still_kills(world: World, nap: str) -> None:
    task = asyncio.create_task(world.run("shell", command=f"trap '' TERM; touch up; while true; do sleep {nap}; done"))
    await until(world.top / "up")
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await world.jobs.aclose()
    assert alive(nap) == []


async def test_everything_dies_with_the_session(world: World, nap: str) -> None:
    await world.run("shell", command=f"sleep {nap} > /dev/null 2>&1 &")
    await world.run("shell", command=f"timeout 600 sleep {nap} > /dev/null 2>&1 &")
    await world.run("shell", command=f"trap '' TERM; while true; do sleep {nap}; done", background=True)
    await started(nap, 3)
    await world.jobs.aclose()
    await ended(nap)


async def test_many_commands_leave_nothing_open(world: World) -> None:
    await world.run("shell", command="true")
    before = sorted(Path("/proc/self/fd").iterdir())
    for _ in range(50):
        await world.run("shell", command="echo x")
    assert sorted(Path("/proc/self/fd").iterdir()) == before
    assert world.jobs.kept() == ()


async def test_commands_side_by_side(world: World) -> None:
    results = await asyncio.gather(*(world.run("shell", command=f"sleep 0.05; echo {n}") for n in range(20)))
    assert [result.text for result in results] == [f"{n}\n[exit 0]" for n in range(20)]


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("npm test", "Run npm test"),
        ("cd a && rm -rf b", "Run cd a && rm -rf b"),
        ("cat <<E\n  x\nE\nrm y", "Run cat <<E ⏎ x ⏎ E ⏎ rm y"),
        ("echo " + "x" * 200 + "; rm -rf /", "Run echo " + "x" * 95 + " … " + "x" * 40 + "; rm -rf /"),
    ],
)
async def test_a_title_tells_the_whole_truth(world: World, command: str, title: str) -> None:
    call = ToolCall("c", "shell", json.dumps({"command": command, "description": "harmless"}))
    assert world.toolbox.title(call) == title


async def test_a_title_cannot_move_the_cursor(world: World) -> None:
    call = ToolCall("c", "shell", json.dumps({"command": "printf '\x1b]0;x\x07\u202e'"}))
    assert re.search("[\x00-\x1f\u202e]", world.toolbox.title(call)) is None


# ---- the folder stays ------------------------------------------------------------------------------------------------


async def test_the_folder_one_changes_to_stays_for_the_next_command(world: World) -> None:
    world.file("子/深 x/f", "")
    moved = await world.run("shell", command="cd '子/深 x' && ls")
    assert moved.text == "f\n[exit 0; the next command runs in 子/深 x]"
    assert (await world.run("shell", command="ls; cd ../..")).text == "f\n[exit 0]"
    assert (await world.run("shell", command="ls")).text == "子\n[exit 0]"


@pytest.mark.parametrize("command", ["(cd 子)", "bash -c 'cd 子'", "cd 子 | cat", "cd 子 &", "cd 子; exec true"])
async def test_a_folder_changed_to_by_others_does_not_stay(world: World, command: str) -> None:
    world.file("子/f", "")
    await world.run("shell", command=command)
    assert (await world.run("shell", command="ls")).text == "子\n[exit 0]"


@pytest.mark.parametrize("command", ["cd 子; exit 3", "cd 子\nfalse", "cd 子; kill $$", "set -e; cd 子; false; cd .."])
async def test_it_stays_however_the_command_ends(world: World, command: str) -> None:
    world.file("子/f", "")
    await world.run("shell", command=command)
    assert (await world.run("shell", command="ls")).text == "f\n[exit 0; the next command runs in 子]"


async def test_a_folder_outside_the_project_does_not_stay(world: World) -> None:
    outside = world.top.parent
    result = await world.run("shell", command="cd ..; cd .")
    assert result.text == (
        f"(no output)\n[exit 0; {outside} is outside the project: the next command does not run there]"
    )
    assert (await world.run("shell", command="pwd")).text == f"{world.top}\n[exit 0]"


async def test_a_folder_that_is_gone_is_left(world: World) -> None:
    world.file("子/f", "")
    await world.run("shell", command="cd 子")
    await world.run("shell", command="rm -r ../子")
    assert (await world.run("shell", command="pwd")).text == f"{world.top}\n[exit 0]"


async def test_a_folder_named_for_one_command_holds_for_that_one(world: World) -> None:
    world.file("子/f", "")
    assert (await world.run("shell", command="ls", cwd="子")).text == "f\n[exit 0]"
    assert (await world.run("shell", command="ls")).text == "子\n[exit 0]"


async def test_who_stands_beside_has_a_folder_of_their_own(world: World) -> None:
    world.file("子/f", "")
    beside = world.jobs.beside()
    await world.run("shell", command="cd 子")
    assert (world.jobs.folder, beside.folder) == (world.top / "子", None)
    await world.run("shell", command="sleep 300", background=True)
    assert [id for id, _ in beside.kept()] == ["job1"]


async def test_messages_of_the_shell_name_the_lines_of_the_command(world: World) -> None:
    result = await world.run("shell", command="true\nnonesuch\necho $# $1")
    assert result.text == "bash: line 2: nonesuch: command not found\n0\n[exit 0]"


# ---- nobody to ask, time, the background -----------------------------------------------------------------------------


async def test_programs_neither_ask_nor_page_nor_edit(world: World) -> None:
    result = await world.run("shell", command='echo "$TERM $GIT_TERMINAL_PROMPT $PAGER $GIT_EDITOR $EDITOR"')
    assert result.text == "dumb 0 cat true true\n[exit 0]"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.4, "exit 0"), (1.26, "exit 0 after 1.3 s"), (9.9, "exit 0 after 9.9 s"), (75.2, "exit 0 after 75 s")],
)
async def test_the_time_is_told_where_it_is_worth_a_word(tmp_path: Path, seconds: float, told: str) -> None:
    ticks = iter([0.0, *[seconds] * 9])
    world = make_world(tmp_path, clock=lambda: next(ticks))
    assert await world.run("shell", command="true") == ToolResult(f"(no output)\n[{told}]", summary="exit 0")
    await world.jobs.aclose()


async def test_past_its_time_it_is_killed_where_that_is_wanted(tmp_path: Path, nap: str) -> None:
    world = make_world(tmp_path, timeout=0.5, kills=True)
    result = await world.run("shell", command=f"echo begun; sleep {nap}; true")
    assert result == ToolResult(
        "begun\n[killed: it still ran after 0.5 s]", failed=True, partial=True, summary="timed out"
    )
    assert (alive(nap), world.jobs.kept()) == ([], ())
    assert (await world.run("shell", command="sleep 300", background=True)).summary == "background job1"
    await world.jobs.aclose()


async def test_the_person_lets_a_command_go_on_in_the_background(world: World) -> None:
    assert not world.jobs.release()
    task = asyncio.create_task(world.run("shell", command="touch up; until test -e go; do sleep 0.01; done; echo done"))
    await until(world.top / "up")
    assert world.jobs.release()
    moved = "[moved to the background by the user as job1: see shell_job]"
    assert await task == ToolResult(f"(no output)\n{moved}", summary="background job1")
    world.file("go", "")
    assert (await world.run("shell_job", action="read", id="job1", wait=60)).text == "done\n[exit 0]"


async def test_a_server_started_in_one_step_serves_in_the_next(world: World) -> None:
    world.file("page.txt", "你好")
    serve = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); "
    serve += "print(s.server_port); s.serve_forever()"
    await world.run("shell", command=f'{sys.executable} -c "{serve}" 2>/dev/null > port', background=True)
    while not (port := (world.top / "port").read_text().strip()):
        await asyncio.sleep(0.01)
    get = f"from urllib.request import urlopen; print(urlopen('http://127.0.0.1:{port}/page.txt').read().decode())"
    assert (await world.run("shell", command=f'{sys.executable} -c "{get}"')).text == "你好\n[exit 0]"


# ---- nothing gets away -----------------------------------------------------------------------------------------------

AWAY = "setsid --fork sleep NAP"


async def test_what_went_to_a_session_of_its_own_is_interrupted_too(world: World, nap: str) -> None:
    task = asyncio.create_task(world.run("shell", command=f"{AWAY}; touch up; sleep NAP; true".replace("NAP", nap)))
    await until(world.top / "up")
    await started(nap, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(nap) == []


async def test_what_went_to_a_session_of_its_own_dies_with_ours(world: World, nap: str) -> None:
    await world.run("shell", command=AWAY.replace("NAP", nap) + " >/dev/null 2>&1")
    await started(nap)
    await world.jobs.aclose()
    assert alive(nap) == []


async def test_the_end_of_one_command_spares_the_others(world: World, nap: str) -> None:
    await world.run("shell", command=f"exec sleep {nap}", background=True)
    await world.run("shell", command="sleep 300", background=True)
    await started(nap)
    await world.run("shell_job", action="kill", id="job2")
    assert len(alive(nap)) == 1


async def test_a_job_may_outlive_the_session_and_goes_on_printing(world: World) -> None:
    await world.run(
        "shell", command="echo 一; until test -e go; do sleep 0.01; done; echo 二; touch over", background=True
    )
    await world.run("shell", command="sleep 300; touch never", background=True)
    log = world.top.parent / "logs" / "job1.log"
    assert world.jobs.outlive("job1") == log
    await world.jobs.aclose()
    world.file("go", "")
    await until(world.top / "over")
    while log.read_text() != "一\n二\n":
        await asyncio.sleep(0.01)


async def test_what_outlived_an_earlier_run_keeps_its_file(world: World) -> None:
    logs = world.top.parent / "logs"
    logs.mkdir()
    (logs / "job1.log").write_text("of an earlier run")
    await world.run("shell", command="sleep 300", background=True)
    assert world.jobs.outlive("job1") == logs / "job1-2.log"
    await world.run("shell_job", action="kill", id="job1")


async def test_what_has_ended_cannot_outlive_the_session(world: World) -> None:
    await world.run("shell", command="true", background=True)
    assert (world.jobs.outlive("job1"), world.jobs.outlive("job9")) == (None, None)
