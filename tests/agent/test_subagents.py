"""A subagent does a job: what the model gets, what the person sees, what stays on disk, how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from codeagent.connection import Connection
from codeagent.core.entries import Usage
from codeagent.core.events import ToolFinished, ToolProgress, ToolStarted
from codeagent.core.messages import ToolMessage
from codeagent.core.ports import Request
from codeagent.core.ui import Answer
from codeagent.history.reading import read_state
from codeagent.llm.providers.scripted import Step, call, calls, fail, say, summary
from tests.agent._world import World, check_valid, ended, events, messages, with_usage
from tests.laws.requests import unpaired

EXPLORE = call("task", prompt="Where is 密码 read?", agent="explore")
USAGE = Usage(1_000, 50, 400)


def result(world: World, index: int = -1) -> ToolMessage:
    """A result of the session's tools, the newest by default."""
    found = [message for message in messages(world.sessions[-1]) if isinstance(message, ToolMessage)]
    return found[index]


def tools_of(request: Request) -> list[str]:
    return [tool["function"]["name"] for tool in json.loads(request.tools)]


def system_of(request: Request) -> str:
    text: str = json.loads(request.messages[0])["content"]
    return text


def transcript(world: World, number: int = 1) -> Path:
    return world.sessions[-1].history.path.with_suffix("") / f"task{number}.jsonl"


async def test_only_the_report_comes_back(world: World) -> None:
    world.file("登录.py", "password = input()\n")
    session = world.begin([EXPLORE, call("grep", pattern="password"), say("登录.py:1 reads it."), say("There.")])
    seen = await events(session.run_turn("find it"))
    assert ended(seen).reason == "done"
    assert result(world).text == "登录.py:1 reads it.\n[explore: 2 steps; all it did: recall id=task1]"
    assert [message.text for message in messages(session) if not isinstance(message, ToolMessage)] == [
        "find it",
        "",
        "There.",
    ]
    check_valid(session)


async def test_the_person_sees_its_steps_folded_into_the_call(world: World) -> None:
    world.file("a.py", "x\n")
    session = world.begin([EXPLORE, call("read_file", path="a.py"), call("glob", pattern="*"), say("R"), say("D")])
    seen = await events(session.run_turn("go"))
    assert [event.title for event in seen if isinstance(event, ToolStarted)] == ["Task (explore) Where is 密码 read?"]
    assert [event.text for event in seen if isinstance(event, ToolProgress)] == [
        "1 · Read a.py\n",
        "2 · Find *\n",
    ]
    (finished,) = [event for event in seen if isinstance(event, ToolFinished)]
    assert finished.result.summary.startswith("3 steps, ")


async def test_it_has_a_context_of_its_own(world: World) -> None:
    world.file("CODEAGENT.md", "Never touch vendor/.\n")
    session = world.begin([EXPLORE, say("Nowhere."), say("Hm.")])
    await events(session.run_turn("a secret word: 蓝色"))
    first, inner, _ = world.requests
    assert "蓝色" in first.messages[-1].decode()
    assert [json.loads(message)["role"] for message in inner.messages] == ["system", "user"]
    assert json.loads(inner.messages[1])["content"] == "Where is 密码 read?"
    assert "Never touch vendor/." in system_of(inner)
    assert system_of(inner) != system_of(first)


async def test_what_a_kind_may_use(world: World) -> None:
    session = world.begin([EXPLORE, say("R"), call("task", prompt="mend it"), say("R"), say("D")])
    await events(session.run_turn("go"))
    own, explore, _, general, _ = map(tools_of, world.requests)
    assert set(own) - set(general) == {"task", "save_memory", "update_task", "todo", "ask_user", "exit_plan"}
    assert set(general) - set(own) == set()
    assert {"read_file", "glob", "grep", "recall"} <= set(explore)
    assert set(explore) & {"write_file", "edit_file", "shell", "shell_job", "task"} == set()


async def test_its_use_counts_with_the_session_and_stays_so_after_a_resume(world: World) -> None:
    script = [with_usage(step, USAGE) for step in (EXPLORE, call("glob", pattern="*"), say("R"), say("D"))]
    session = world.begin(script, cost=lambda usage: 0.25)
    await events(session.run_turn("go"))
    status = session.status()
    assert (status.prompt_tokens, status.completion_tokens, status.cached_tokens) == (4_000, 200, 1_600)
    assert status.cost_usd == 1.0
    assert status.context_tokens < 2_000
    again = await world.resume(session)
    assert again.history.spent == session.history.spent


async def test_the_caps_of_the_session_hold_for_it(make: Callable[..., World]) -> None:
    world = make()
    world.limit(tokens=2_500)
    script = [with_usage(step, USAGE) for step in (EXPLORE, call("glob", pattern="*"), call("glob", pattern="*"))]
    session = world.begin(script)
    seen = await events(session.run_turn("go"))
    assert ended(seen).reason == "limit"
    assert "stopped: Stopped: the cap of 2,500 tokens is used up." in result(world).text


async def test_its_transcript_is_on_disk_and_recalled(world: World) -> None:
    world.file("a.py", "the pelican rule\n")
    session = world.begin(
        [
            *(EXPLORE, call("read_file", path="a.py"), say("Read it."), say("D")),
            *(call("recall", id="task1"), call("recall", query="pelican"), call("recall", id="task1/m3"), say("Yes.")),
        ]
    )
    await events(session.run_turn("go"))
    found = read_state(transcript(world))
    assert found.damage.lines == ()
    assert unpaired([entry.wire for entry in found.state.entries]) == []
    assert found.state.session is not None
    assert (found.state.session.parent, found.state.session.name) == (session.id, "explore")
    await events(session.run_turn("what did it do?"))
    whole, search, one = (result(world, index).text for index in (-3, -2, -1))
    assert [line for line in whole.splitlines() if line and not line.startswith(("[", "path", "→"))] == [
        "Where is 密码 read?",
        "1\tthe pelican rule",
        "Read it.",
    ]
    assert search.startswith("task1/m3 · turn 1 · read_file")
    assert one.endswith("1\tthe pelican rule")


async def test_its_edits_leave_the_session_to_read_the_file_again(world: World) -> None:
    world.file("a.txt", "one\n")
    session = world.begin(
        [
            *(call("read_file", path="a.txt"), call("task", prompt="make it two"), call("read_file", path="a.txt")),
            *(call("edit_file", path="a.txt", old_string="one", new_string="two"), say("Done.")),
            *(call("edit_file", path="a.txt", old_string="two", new_string="three"), say("Changed.")),
        ]
    )
    await events(session.run_turn("go"))
    assert (world.top / "a.txt").read_text() == "two\n"
    assert "changed" in result(world).text


async def test_several_work_side_by_side(world: World) -> None:
    jobs = calls(*(call("task", prompt=f"job {number}", agent="explore") for number in range(3)))
    slow = replace(say("R"), delay=0.02)
    session = world.begin([jobs, slow, slow, slow, say("D")])
    seen = await events(session.run_turn("go"))
    kinds = [type(event) for event in seen if isinstance(event, ToolStarted | ToolFinished)]
    assert kinds == [*[ToolStarted] * 3, *[ToolFinished] * 3]
    texts = [message.text for message in messages(session) if isinstance(message, ToolMessage)]
    assert texts == [f"R\n[explore: 1 step; all it did: recall id=task{number}]" for number in (1, 2, 3)]
    check_valid(session)


async def test_an_interrupt_reaches_it_and_what_it_started(world: World) -> None:
    mark = "91827364.5"
    session = world.begin([call("task", prompt="wait"), call("shell", command=f"sleep {mark}; true")])

    def sleeping() -> bool:
        return any(mark in (process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"]))

    async def stop() -> None:
        while not sleeping():
            await asyncio.sleep(0.01)
        session.interrupt()

    stopping = asyncio.create_task(stop())
    seen = await events(session.run_turn("go"))
    await stopping
    assert ended(seen).reason == "interrupted"
    assert not sleeping()
    told = "[general: 1 step; all it did: recall id=task1]\n(interrupted)"
    assert [message.text for message in messages(session) if isinstance(message, ToolMessage)] == [
        f"(no report)\n{told}"
    ]
    check_valid(session)
    found = read_state(transcript(world)).state
    assert unpaired([entry.wire for entry in found.entries]) == []


@pytest.mark.parametrize(("error", "word"), [("AuthError", "AuthError"), ("RateLimited", "RateLimited")])
async def test_a_failure_is_a_failed_result_and_no_end(world: World, error: str, word: str) -> None:
    session = world.begin([EXPLORE, fail(error), say("Without it, then.")])
    seen = await events(session.run_turn("go"))
    assert ended(seen).reason == "done"
    (finished,) = [event for event in seen if isinstance(event, ToolFinished)]
    assert finished.result.failed
    assert f"stopped: The script of the scripted model ends this reply with {word}." in finished.result.text


async def test_who_asks_is_said(make: Callable[..., World]) -> None:
    world = make(permission_mode="default")
    world.person.answers = [Answer("no", "not now")]
    session = world.begin([call("task", prompt="p"), call("shell", command="make it"), say("Refused."), say("D")])
    await events(session.run_turn("go"))
    assert [question.title for question in world.person.asked] == ["general (task1): Run make it?"]
    assert [denial.tool for denial in session.denials] == ["shell"]


async def test_plan_mode_holds_for_it(make: Callable[..., World]) -> None:
    world = make(permission_mode="plan")
    session = world.begin(
        [call("task", prompt="p"), call("write_file", path="x", content="x"), say("Not allowed."), say("D")]
    )
    await events(session.run_turn("go"))
    assert not (world.top / "x").exists()
    assert world.person.asked == []


async def test_a_long_report_is_bounded_and_whole_in_the_archive(world: World) -> None:
    report = "结论 " * 20_000
    session = world.begin([EXPLORE, say(report), say("D")])
    seen = await events(session.run_turn("go"))
    (finished,) = [event for event in seen if isinstance(event, ToolFinished)]
    assert len(finished.result.text.encode()) < 17_000
    assert finished.result.archive is not None
    whole = (session.history.path.with_suffix("") / finished.result.archive).read_text()
    assert whole == report.strip()


async def test_a_long_job_is_compacted_by_itself(make: Callable[..., World]) -> None:
    world = make()
    world.file("big.txt", "line of text that fills the window\n" * 700)
    reads: list[Step] = [call("read_file", path="big.txt", offset=1 + n, limit=400) for n in range(14)]
    session = world.begin([EXPLORE, *reads, say("R"), say("D"), *[summary("Read parts.")] * 3], window=16_000)
    before = len(session.history.entries)
    await events(session.run_turn("go"))
    assert len(session.history.entries) == before + 4
    assert any('"compaction"' in line for line in transcript(world).read_text().splitlines())
    world.play()


async def test_nonsense_is_answered(world: World) -> None:
    session = world.begin([call("task", prompt="p", agent="nobody"), call("task", prompt=" "), say("D")])
    await events(session.run_turn("go"))
    assert result(world, 0).text == "There is no agent 'nobody'. There are: explore, general."
    assert result(world, 1).text == "prompt is empty."
    assert not transcript(world).exists()


async def test_a_kind_of_the_user_has_its_prompt_its_tools_and_a_line_in_the_system_prompt(world: World) -> None:
    file = world.home.root / "agents" / "reviewer.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ndescription: finds faults\ntools: read_file, grep, save_memory\n---\nLook twice.", "utf-8")
    session = world.begin([call("task", prompt="p", agent="reviewer"), say("R"), say("D")])
    await events(session.run_turn("go"))
    own, inner, _ = world.requests
    assert "- reviewer: finds faults" in system_of(own)
    assert "Look twice." in system_of(inner)
    assert tools_of(inner) == ["read_file", "grep"]
    (notice,) = world.notices
    assert str(notice).startswith(f"{file}: no subagent can have the tool save_memory; there are read_file, ")


async def test_a_kind_may_work_with_another_model(world: World) -> None:
    file = world.home.root / "agents" / "small.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nmodel: tiny\n---\nBe quick.", "utf-8")
    tiny = world.connection([say("R")], name="tiny")
    asked: list[str] = []

    async def other(name: str) -> Connection:
        asked.append(name)
        return tiny

    session = world.begin([call("task", prompt="p", agent="small"), say("D")], other=other)
    await events(session.run_turn("go"))
    assert asked == ["tiny"]
    assert {request.model for request in world.models[0].requests} == {"tiny"}
    assert result(world).text.startswith("R\n")


async def test_the_folder_it_changes_to_is_its_own(world: World) -> None:
    world.file("子/x", "")
    session = world.begin(
        [
            *(call("task", prompt="p"), call("shell", command="cd 子"), call("shell", command="ls"), say("R")),
            *(call("shell", command="ls"), say("D")),
        ]
    )
    await events(session.run_turn("go"))
    inner = read_state(transcript(world)).state.entries
    assert [entry.message.text for entry in inner if entry.origin == "tool"] == [
        "(no output)\n[exit 0; the next command runs in 子]",
        "x\n[exit 0; the next command runs in 子]",
    ]
    assert result(world).text == "子\n[exit 0]"
