"""Hooks of a project: what they are given, what they give, and how little they can do to a session."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from codeagent.core.paths import Project
from codeagent.extensions.hooks import OUTPUT, Hooked, Hooks
from codeagent.history.archive import SessionArchive


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def hook(top: Path, name: str, script: str, *, mode: int = 0o755) -> Path:
    path = top / ".code-agent-cli" / "hooks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(mode)
    return path


def hooks(top: Path, *, seconds: float = 20.0, trusted: Callable[[], bool] = lambda: True) -> Hooks:
    return Hooks(Project(top, top, top), dict(os.environ), trusted, SessionArchive(top / "s1.jsonl"), seconds=seconds)


def told(hooked: Hooked) -> list[str]:
    return [str(notice) for notice in hooked.notices]


async def test_it_reads_json_and_what_it_prints_is_for_the_model(top: Path) -> None:
    hook(top, "post_edit", 'cat > given.json; echo "$AGENT_CONTEXT_LEN tokens"; pwd')
    hooked = await hooks(top).run("post_edit", context=1234, session="s1", file="/a/文件.py")
    assert hooked == Hooked(f"[Output of the project's hook post_edit]\n1234 tokens\n{top}")
    assert json.loads((top / "given.json").read_text("utf-8")) == {
        "event": "post_edit",
        "project": str(top),
        "session": "s1",
        "file": "/a/文件.py",
    }


async def test_those_of_one_moment_run_in_order(top: Path) -> None:
    for name in ("pre_task", "pre_task.10-b.sh", "pre_task.2-a.sh", "on_compact.sh", "pre_tasks"):
        hook(top, name, f"echo {name}")
    text = (await hooks(top).run("pre_task", context=0)).text
    assert [line for line in text.splitlines() if line[:1] == "p"] == [
        "pre_task",
        "pre_task.10-b.sh",
        "pre_task.2-a.sh",
    ]


async def test_without_hooks_nothing_happens(top: Path) -> None:
    assert await hooks(top, trusted=lambda: False).run("pre_task", context=0) == Hooked()


async def test_in_a_folder_that_is_not_trusted_none_runs_and_that_is_told_once(top: Path) -> None:
    hook(top, "pre_task", "touch ran")
    some = hooks(top, trusted=lambda: False)
    first, second = await some.run("pre_task", context=0), await some.run("pre_task", context=0)
    assert told(first) == ["The hooks of this folder are not run until you trust it: codeagent config trust"]
    assert (second, (top / "ran").exists()) == (Hooked(), False)


async def test_one_that_fails_is_reported_and_its_words_are_kept(top: Path) -> None:
    hook(top, "pre_task", "echo out; echo err >&2; exit 1")
    hooked = await hooks(top).run("pre_task", context=0)
    assert hooked.text.endswith("\nout\nerr")
    assert told(hooked) == ["The hook pre_task failed with exit code 1."]


async def test_one_that_hangs_is_stopped_with_all_it_started(top: Path) -> None:
    hook(top, "pre_task", "echo begun; sleep 61.5 & sleep 62.5")
    hooked = await hooks(top, seconds=0.5).run("pre_task", context=0)
    assert (hooked.text.endswith("begun"), told(hooked)) == (True, ["The hook pre_task was stopped after 0.5 seconds."])
    assert _gone("61.5")


async def test_one_that_leaves_a_process_behind_does_not_hold_the_session(top: Path) -> None:
    hook(top, "pre_task", "sleep 63.5 & echo done")
    hooked = await hooks(top).run("pre_task", context=0)
    assert (hooked.text.endswith("done"), told(hooked), _gone("63.5")) == (True, [], True)


def _gone(seconds: str) -> bool:
    """Whether no `sleep` of so many seconds lives any more."""
    for _ in range(100):
        lines = [process.info["cmdline"] for process in psutil.process_iter(["cmdline", "status"])]
        if ["sleep", seconds] not in lines:
            return True
        time.sleep(0.02)
    return False


async def test_megabytes_are_bounded(top: Path) -> None:
    hook(top, "pre_task", "head -c 5000000 /dev/zero | tr '\\0' 'x'")
    hooked = await hooks(top).run("pre_task", context=0)
    assert ("x" * OUTPUT in hooked.text, told(hooked)) == (True, [])
    (archived,) = (top / "s1").iterdir()
    assert hooked.text.endswith(
        f"\n[... {1_000_000 - OUTPUT} characters left out; of its first megabyte the whole is in {archived} "
        "(read_file with offset, or grep) ...]"
    )
    assert archived.read_text() == "x" * 1_000_000


async def test_what_does_not_join_the_context_is_archived(top: Path) -> None:
    hook(top, "pre_task", "seq 9000")
    hooked = await hooks(top).run("pre_task", context=0)
    (archived,) = (top / "s1").iterdir()
    assert f"; the whole is in {archived} (" in hooked.text
    assert archived.read_text() == "\n".join(map(str, range(1, 9_001)))


async def test_an_endless_printer_is_stopped(top: Path) -> None:
    hook(top, "pre_task", "yes")
    hooked = await hooks(top, seconds=0.5).run("pre_task", context=0)
    assert (len(hooked.text) < 2 * OUTPUT, len(hooked.notices)) == (True, 1)


async def test_one_that_is_not_executable_is_told_once(top: Path) -> None:
    hook(top, "pre_task", "echo no", mode=0o644)
    some = hooks(top)
    assert told(await some.run("pre_task", context=0)) == ["The hook pre_task is not executable and was not run."]
    assert await some.run("pre_task", context=0) == Hooked()


async def test_one_that_is_no_program_is_reported(top: Path) -> None:
    path = hook(top, "pre_task", "")
    path.write_bytes(b"\x7fELF nonsense")
    (notice,) = told(await hooks(top).run("pre_task", context=0))
    assert notice.startswith("The hook pre_task could not be run: ")


async def test_one_that_never_reads_its_input_gets_more_than_a_pipe_holds(top: Path) -> None:
    hook(top, "on_compact", "echo fine")
    hooked = await hooks(top).run("on_compact", context=0, file="x" * 1_000_000)
    assert (hooked.text.endswith("fine"), hooked.notices) == (True, ())


async def test_what_it_prints_cannot_reach_the_terminal(top: Path) -> None:
    hook(top, "pre_task", "printf '\\033[31mred\\033[0m \\033]0;title\\007 \\377'")
    assert (await hooks(top).run("pre_task", context=0)).text.endswith("\nred  \ufffd")
