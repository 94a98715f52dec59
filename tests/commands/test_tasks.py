"""/tasks and /agents: what works beside the conversation, in the person's hands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codeagent.core.errors import UsageError
from codeagent.core.ui import Table
from codeagent.llm.providers.scripted import call, calls, say
from tests.commands.conftest import Sit

SERVER = "echo 已启动; exec sleep 300"


async def test_jobs_are_listed_read_and_killed(sit: Sit) -> None:
    table = await sit(call("shell", command=SERVER, background=True), say("It runs."))
    assert await table.told("/tasks") == ["There are no background commands."]
    await table.type("start it")
    (listed,) = await table.shown("/tasks")
    assert isinstance(listed, Table)
    ((id, state, command),) = listed.rows
    assert (listed.headers, id, command) == (("id", "state", "command"), "job1", SERVER)
    assert re.fullmatch(r"running( for [\d.]+ s)?", state)
    output, _ = await table.told("/tasks read job1")
    assert output == "已启动"
    assert await table.told("/tasks kill") == ["job1 is dead."]
    _, state = await table.told("/tasks read job1")
    assert state.startswith("killed by SIGTERM")


async def test_what_the_person_reads_the_model_can_still_read(sit: Sit) -> None:
    table = await sit(
        call("shell", command="sleep 1; echo late", background=True),
        call("shell_job", action="read", id="job1", wait=60),
        say("Late."),
    )
    await table.type("start it")
    await table.type("/tasks read")
    results = [entry.message.text for entry in table.session.history.entries if entry.origin == "tool"]
    assert results[1].startswith("late\n[exit 0")


async def test_a_job_that_is_kept_names_the_file_it_prints_to(sit: Sit) -> None:
    table = await sit(call("shell", command=SERVER, background=True), say("It runs."))
    await table.type("start it")
    log = table.session.history.path.with_suffix("") / "job1.log"
    assert await table.told("/tasks keep job1") == [f"job1 outlives the session; it then prints to {log}."]
    await table.type("/tasks kill job1")
    with pytest.raises(UsageError, match=r"job1 has ended\."):
        await table.type("/tasks keep job1")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/tasks stop job1", "There is no /tasks stop."),
        ("/tasks kill job7", "There is no job job7. There are: job1, job2."),
        ("/tasks kill", "Say which: job1, job2."),
    ],
)
async def test_nonsense_is_answered_in_a_sentence(sit: Sit, line: str, told: str) -> None:
    one = call("shell", command="sleep 300", background=True)
    table = await sit(calls(one, one), say("They run."))
    await table.type("start them")
    with pytest.raises(UsageError, match=re.escape(told)):
        await table.type(line)


async def test_agents_are_listed_with_where_they_come_from(sit: Sit, tmp_path: Path) -> None:
    file = tmp_path / "home" / "agents" / "审查.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ndescription: 找错\ntools: grep, read_file\nmodel: tiny\n---\n看两遍。", "utf-8")
    table = await sit()
    (shown,) = await table.shown("/agents")
    assert isinstance(shown, Table)
    assert shown.rows == (
        ("explore", "finds things and reads code; changes nothing", "read only", "built in"),
        ("general", "any part of the work that stands alone", "all", "built in"),
        ("审查", "找错", "grep, read_file (tiny)", str(file)),
    )


async def test_without_any_job_there_is_none_to_read(sit: Sit) -> None:
    table = await sit()
    with pytest.raises(UsageError, match="no background commands"):
        await table.type("/tasks read job1")
