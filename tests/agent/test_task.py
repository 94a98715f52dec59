"""Task memory before the model: where it stands, when it comes again, who may change it."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from codeagent.agent.session import Session
from codeagent.core.entries import Usage
from codeagent.core.events import Event, Notice, StepStarted, ToolFinished
from codeagent.core.ports import Request
from codeagent.core.ui import Answer
from codeagent.llm.providers.scripted import Step, call, calls, fail, say, summary
from codeagent.memory.digest import AGAIN
from codeagent.settings import Trust
from tests.agent._world import World, check_valid, events
from tests.agent.conftest import Make
from tests.laws.requests import extends

MEMORY = ".code-agent-cli/memory"
SNAPSHOT = "## Goal\nPort five files.\n\n## In progress\n- c.py\n\n## Key decisions\n- keep the old names\n"
BLOCK = """\
=== AGENT MEMORY BEGIN ===
## Hard constraints (must be obeyed)
never touch the schema

## Current task snapshot
### Goal
Port five files.
### In progress
- c.py
### Key decisions
- keep the old names
=== AGENT MEMORY END ==="""


def task_files(world: World, *, tattoo: str = "never touch the schema\n", snapshot: str = SNAPSHOT) -> None:
    world.file(f"{MEMORY}/tattoo.md", tattoo)
    world.file(f"{MEMORY}/snapshot.md", snapshot)


def contents(request: Request) -> list[str]:
    return [str(json.loads(message)["content"]) for message in request.messages]


def newest(request: Request) -> str:
    return contents(request)[-1]


async def talk(session: Session, *texts: str) -> list[Event]:
    return [event for text in texts for event in await events(session.run_turn(text))]


def log(world: World) -> list[str]:
    """The log without its times."""
    lines = (world.top / ".code-agent-cli/log/memory.log").read_text("utf-8").splitlines()
    return [line[22:] for line in lines]


async def test_it_stands_at_the_very_start_and_is_what_the_log_keeps(world: World) -> None:
    task_files(world)
    session = world.begin([say("Yes.")])
    await talk(session, "hello")
    assert contents(world.requests[0])[0].startswith(f"{BLOCK}\n\n")
    assert (world.top / ".code-agent-cli/log/injected_context.txt").read_text("utf-8") == BLOCK
    assert (world.top / ".code-agent-cli/.gitignore").read_text("utf-8") == "log/\n*.local.*\n*.lock\n"
    assert session.history.prompt.digest == session.memory.task.digest != ""


async def test_it_stands_before_a_system_prompt_of_the_persons_own(world: World) -> None:
    task_files(world)
    world.options = replace(world.options, system_prompt="Answer in verse.")
    await talk(world.begin([say("Yes.")]), "hello")
    assert contents(world.requests[0])[0].startswith(f"{BLOCK}\n\nAnswer in verse.\n\n")


async def test_a_project_without_it_is_left_as_it_is(world: World) -> None:
    session = world.begin([say("Yes.")])
    await talk(session, "hello")
    assert ("AGENT MEMORY BEGIN" in contents(world.requests[0])[0], list(world.top.iterdir())) == (False, [])
    assert session.history.prompt.digest == ""


async def test_the_tattoo_of_the_user_comes_first(world: World) -> None:
    task_files(world, snapshot="")
    mine = world.home.root / "memory" / "tattoo.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("answer briefly\n", "utf-8")
    await talk(world.begin([say("Yes.")]), "hello")
    head = contents(world.requests[0])[0]
    assert head.index("answer briefly") < head.index("In this project") < head.index("never touch the schema")


async def test_a_change_by_hand_travels_in_the_next_message(world: World) -> None:
    task_files(world)
    session = world.begin([say("One."), say("Two."), say("Three.")])
    await talk(session, "one")
    world.file(f"{MEMORY}/tattoo.md", "never touch the tests\n")
    await talk(session, "two", "three")
    changed = BLOCK.replace("the schema", "the tests")
    assert [newest(request) for request in world.requests] == ["one", f"{AGAIN}\n{changed}\n\ntwo", "three"]
    assert extends(world.requests[-1].messages, world.requests[0].messages)


async def test_what_is_emptied_is_said_to_hold_no_longer(world: World) -> None:
    task_files(world, snapshot="")
    session = world.begin([say("One."), say("Two.")])
    await talk(session, "one")
    (world.top / MEMORY / "tattoo.md").unlink()
    await talk(session, "two")
    assert newest(world.requests[-1]).startswith("[Task memory is empty now")


async def test_it_comes_again_after_so_many_turns(make: Make) -> None:
    world = make(task_memory__reload_every=2)
    task_files(world)
    session = world.begin([say(str(number)) for number in range(6)])
    await talk(session, *"abcdef")
    again = f"{AGAIN}\n{BLOCK}\n\n"
    assert [newest(request) for request in world.requests] == ["a", "b", f"{again}c", "d", f"{again}e", "f"]


async def test_it_comes_again_after_so_many_steps(make: Make) -> None:
    world = make(task_memory__reload_every=2)
    task_files(world)
    looks = calls(call("glob", pattern="*"), call("glob", pattern="*.py"))
    session = world.begin([looks, looks, looks, say("Done.")])
    await talk(session, "go")
    marked = [content for content in contents(world.requests[-1]) if content.endswith(f"\n\n{AGAIN}\n{BLOCK}")]
    assert len(marked) == 1
    assert extends(world.requests[-1].messages, world.requests[0].messages)
    check_valid(session)


async def test_it_goes_with_every_message_where_that_is_wanted(make: Make) -> None:
    world = make(task_memory__remind="every_message")
    task_files(world)
    session = world.begin([say("One."), say("Two."), say("Three.")])
    await talk(session, "one", "two", "three")
    again = f"{AGAIN}\n{BLOCK}\n\n"
    assert [newest(request) for request in world.requests] == ["one", f"{again}two", f"{again}three"]


async def test_what_the_model_writes_is_not_sent_back_to_it(world: World) -> None:
    session = world.begin(
        [
            calls(
                call("update_task", section="goal", content="Port five files."),
                call("update_task", section="in_progress", content="a.py\nb.py"),
                call("update_task", section="done", content="- a.py"),
                call("update_task", section="decisions", content="keep the old names"),
                call("update_task", section="notes", content="the tests are slow"),
            ),
            say("Noted."),
            say("Yes."),
        ]
    )
    await talk(session, "go", "on")
    snapshot = (world.top / MEMORY / "snapshot.md").read_text("utf-8")
    assert snapshot.split("-->\n\n")[1] == (
        "## Goal\nPort five files.\n\n## Done\n- a.py\n\n## In progress\n- b.py\n\n## Key decisions\n"
        "- keep the old names\n"
    )
    assert (world.top / MEMORY / "notes.md").read_text("utf-8").endswith("-->\n- the tests are slow\n")
    assert newest(world.requests[-1]) == "on"


async def test_a_list_that_the_model_has_not_seen_is_shown_before_it_is_stated_anew(world: World) -> None:
    task_files(world, snapshot=f"{SNAPSHOT}\n## Open\n- d.py\n- e.py\n")
    state = call("update_task", section="open", content="e.py\nf.py")
    session = world.begin([state, state, say("Done.")])
    results = [event.result for event in await talk(session, "go") if isinstance(event, ToolFinished)]
    assert [result.failed for result in results] == [True, False]
    assert "\n- d.py\n" in results[0].text
    assert (world.top / MEMORY / "snapshot.md").read_text("utf-8") == f"{SNAPSHOT}\n## Open\n- e.py\n- f.py\n"


@pytest.mark.parametrize(("answer", "written"), [("yes", True), ("no", False), ("", False)])
async def test_a_constraint_needs_a_yes_also_in_yolo(world: World, answer: str, written: bool) -> None:
    world.person.answers = [Answer(answer)]
    session = world.begin([call("update_task", section="tattoo", content="never force-push"), say("Well.")])
    await talk(session, "go")
    assert ((world.top / MEMORY / "tattoo.md").exists(), len(world.person.asked)) == (written, 1)


async def test_without_a_person_there_is_no_new_constraint(world: World) -> None:
    world.person.interactive = False
    path = f"{MEMORY}/tattoo.md"
    session = world.begin(
        [
            call("update_task", section="tattoo", content="never force-push"),
            call("write_file", path=path, content="never force-push"),
            say("Well."),
        ]
    )
    results = [event.result for event in await talk(session, "go") if isinstance(event, ToolFinished)]
    assert ([result.denied for result in results], (world.top / path).exists()) == ([True, True], False)


async def test_secrets_are_refused(world: World) -> None:
    key = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    session = world.begin([call("update_task", section="notes", content=f"the key is {key}"), say("Well.")])
    results = [event.result for event in await talk(session, "go") if isinstance(event, ToolFinished)]
    assert ([result.failed for result in results], (world.top / MEMORY).exists()) == ([True], False)


# ---- reminders -----------------------------------------------------------------------------------------------------


def _old(world: World, minutes: float) -> None:
    path = world.top / MEMORY / "snapshot.md"
    then = path.stat().st_mtime - minutes * 60
    os.utime(path, (then, then))


def write(name: str) -> Step:
    return call("write_file", path=name, content="x = 1\n")


async def test_an_edit_earns_one_reminder_per_phase(world: World) -> None:
    task_files(world)
    _old(world, 15)
    state = call("update_task", section="in_progress", content="d.py")
    session = world.begin([write("1.py"), write("2.py"), state, write("3.py"), say("Done.")])
    await talk(session, "go")
    reminded = ["[Reminder" in content for content in contents(world.requests[-1])[1:]]
    assert [place for place, found in enumerate(reminded) if found] == [2]


async def test_a_session_that_is_resumed_is_not_reminded_of_the_same_phase_again(world: World) -> None:
    task_files(world)
    _old(world, 15)
    session = world.begin([write("1.py"), say("Done.")])
    await talk(session, "go")
    session = await world.resume(session, [write("2.py"), say("Done.")])
    await talk(session, "on")
    assert str(contents(world.requests[-1])).count("[Reminder") == 1


@pytest.mark.parametrize(("minutes", "remind"), [(5, "stale"), (15, "never")])
async def test_a_fresh_snapshot_and_a_person_who_wants_none_earn_none(make: Make, minutes: float, remind: str) -> None:
    world = make(task_memory__remind=remind)
    task_files(world)
    _old(world, minutes)
    await talk(world.begin([write("1.py"), say("Done.")]), "go")
    assert [content for content in contents(world.requests[-1]) if "[Reminder" in content] == []


# ---- a context that somebody else cut ------------------------------------------------------------------------------


def used(step: Step, tokens: int) -> Step:
    return Step(step.text, step.calls, usage=Usage(tokens, 10), purpose=step.purpose)


def _shrinks(seen: Sequence[Event]) -> list[str]:
    return [str(event) for event in seen if isinstance(event, Notice) and "cut outside" in str(event)]


async def test_a_context_that_shrinks_by_itself_brings_it_back(world: World) -> None:
    task_files(world)
    look = call("glob", pattern="*")
    session = world.begin([used(look, 50_000), used(look, 20_000), used(say("One."), 20_100), used(say("Two."), 9_000)])
    seen = await talk(session, "one", "two")
    assert _shrinks(seen) == [
        "The context was cut outside: the endpoint counted 20,000 tokens after 50,000. Task memory is sent again.",
        "The context was cut outside: the endpoint counted 9,000 tokens after 20,100. Task memory is sent again.",
    ]
    assert contents(world.requests[2])[-1].endswith(f"\n\n{AGAIN}\n{BLOCK}")
    assert [row for row in log(world) if row.startswith("shrink")] == [
        "shrink: 50000 -> 20000 tokens without a compaction of ours",
        "shrink: 20100 -> 9000 tokens without a compaction of ours",
    ]


async def test_a_context_that_shrank_before_a_resume_is_noticed(world: World) -> None:
    task_files(world)
    session = world.begin([used(say("One."), 31_000)])
    await talk(session, "one")
    session = await world.resume(session, [used(say("Two."), 2_000)])
    assert _shrinks(await talk(session, "two")) == [
        "The context was cut outside: the endpoint counted 2,000 tokens after 31,000. Task memory is sent again."
    ]


async def test_our_own_compaction_and_a_new_beginning_are_no_shrinking(make: Make) -> None:
    world = make(compaction__keep_turns=1, compaction__mode="classic")
    task_files(world)
    texts = [used(say("One. " * 200), 50_000), used(say("Two. " * 200), 50_500)]
    session = world.begin([*texts, summary("Short."), used(say("Three."), 9_000), used(say("Four."), 3_000)])
    seen = await talk(session, "one", "two")
    await events(session.compact())
    seen += await talk(session, "three")
    session.clear()
    seen += await talk(session, "four")
    assert _shrinks(seen) == []
    assert contents(world.requests[-2])[0].startswith(BLOCK)


async def test_a_summary_made_elsewhere_needs_less_of_a_fall(world: World) -> None:
    task_files(world)
    marked = "Understood: this session is being continued from a previous conversation. I go on."
    session = world.begin(
        [used(say("One."), 50_000), used(say(marked), 45_000), used(say(marked), 46_000), used(say("Four."), 47_000)]
    )
    seen = await talk(session, "one", "two", "three", "four")
    assert _shrinks(seen) == [
        "The context was cut outside: the endpoint counted 45,000 tokens after 50,000. Task memory is sent again."
    ]
    assert [AGAIN in newest(request) for request in world.requests] == [False, False, True, False]


async def test_a_summary_made_elsewhere_that_is_typed_in_does_not_win_over_task_memory(world: World) -> None:
    task_files(world)
    session = world.begin([say("One."), say("Two."), say("Three.")])
    await talk(session, "one", "以下是之前对话的摘要：一切顺利。", "three")
    again = f"{AGAIN}\n{BLOCK}\n\n"
    assert [newest(request).startswith(again) for request in world.requests] == [False, True, False]
    assert [row for row in log(world) if row.startswith("shrink")] == [
        "shrink: the message brings a summary that is not ours"
    ]
    assert [str(notice) for notice in world.notices] == [
        "The message brings a summary made elsewhere: task memory is sent again and wins over it."
    ]


async def test_an_older_block_behind_a_new_prompt_is_not_the_last_word(make: Make) -> None:
    """The newest message of before stays at a compaction, with the block that it brought."""
    world = make(compaction__keep_turns=1, compaction__mode="classic")
    task_files(world, snapshot="")
    texts = [say("One. " * 300), say("Two. " * 300), say("Three. " * 300)]
    session = world.begin([*texts, summary("Short."), say("Four."), say("Five.")])
    await talk(session, "one", "two")
    world.file(f"{MEMORY}/tattoo.md", "never touch the tests\n")
    await talk(session, "three")
    world.file(f"{MEMORY}/tattoo.md", "never touch the docs\n")
    await events(session.compact())
    await talk(session, "four", "five")
    heads = [newest(request).partition("=== AGENT MEMORY END")[0] for request in world.requests]
    assert ("the tests" in heads[2], "the docs" in heads[4], heads[5]) == (True, True, "five")


async def test_an_automatic_compaction_in_a_turn_reads_the_files_anew(make: Make) -> None:
    world = make(compaction__keep_turns=1, compaction__mode="classic")
    task_files(world)
    change = call("shell", command=f"sed -i s/c.py/d.py/ {MEMORY}/snapshot.md")
    session = world.begin([say("One. " * 300), change, fail("ContextOverflow"), summary("Short."), say("Two.")])
    await talk(session, "one", "two")
    changed = BLOCK.replace("c.py", "d.py")
    assert contents(world.requests[-1])[0].startswith(f"{changed}\n\n")
    assert (world.top / ".code-agent-cli/log/injected_context.txt").read_text("utf-8") == changed
    events_logged = [row.split(":")[0] for row in log(world)]
    assert events_logged[-3:] == ["load", "injection", "compaction"]
    check_valid(session)


# ---- hooks ---------------------------------------------------------------------------------------------------------


def hook(world: World, name: str, script: str) -> None:
    world.file(f".code-agent-cli/hooks/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def trust(world: World) -> None:
    Trust(world.home).grant(world.project)


async def test_hooks_are_told_how_large_the_context_was_and_is(world: World) -> None:
    """Also the first: what it is given is the size of the request that follows."""
    for name in ("pre_task", "post_edit"):
        hook(world, name, 'echo "$AGENT_CONTEXT_LEN"; grep -o \'"tokens_[a-z]*":[0-9]*\'')
    trust(world)
    session = world.begin([write("a.py"), say("One."), say("Two.")])
    seen = [event for text in ("one", "two") async for event in session.run_turn(text)]
    first, second, _ = (event.prompt_tokens for event in seen if isinstance(event, StepStarted))
    one, edited, two = (_sizes(newest(request)) for request in world.requests)
    assert (one, edited) == ([one[0], 0, one[0]], [edited[0], edited[0], edited[0]])
    assert 500 < one[0] < first < edited[0] < second
    assert edited[0] < two[0] == two[1] == two[2]


def _sizes(text: str) -> list[int]:
    """What a hook printed: the variable, and the two counts."""
    return [int(number) for number in re.findall(r'^(?:"tokens_\w+":)?(\d+)$', text, re.MULTILINE)]


async def test_hooks_speak_at_their_moments(make: Make) -> None:
    world = make(compaction__keep_turns=1, compaction__mode="classic")
    hook(world, "pre_task", "echo look at the plan")
    hook(world, "post_edit.sh", 'grep -o \'"file":"[^"]*"\'')
    hook(world, "on_compact", "grep -o '\"tokens_[a-z]*\":[0-9]*'")
    trust(world)
    session = world.begin([say("One. " * 300), write("a.py"), say("Two."), summary("Short."), say("Three.")])
    await talk(session, "one", "two")
    await events(session.compact())
    await talk(session, "three")
    one, _, edited, _, three = world.requests
    assert newest(one) == "[Output of the project's hook pre_task]\nlook at the plan\n\none"
    assert newest(edited).endswith(f'[Output of the project\'s hook post_edit.sh]\n"file":"{world.top / "a.py"}"')
    receipt = session.history.receipt
    assert receipt is not None
    counts = f'"tokens_before":{receipt.tokens_before}\n"tokens_after":{receipt.tokens_after}'
    assert newest(three).startswith(f"[Output of the project's hook on_compact]\n{counts}\n\n")
    assert session.history.entries[-2].said == "three"


async def test_what_a_hook_says_of_a_compaction_in_a_turn_is_the_newest_message(make: Make) -> None:
    world = make(compaction__keep_turns=1, compaction__mode="classic")
    hook(world, "on_compact", "echo read the plan again")
    trust(world)
    texts = [say("One. " * 300), call("glob", pattern="*"), fail("ContextOverflow")]
    session = world.begin([*texts, summary("Short."), say("Two.")])
    await talk(session, "one", "two")
    assert newest(world.requests[-1]) == "[Output of the project's hook on_compact]\nread the plan again"
    assert [entry.origin for entry in session.history.entries][-2:] == ["hook", "model"]
    check_valid(session)


async def test_a_hook_that_changes_is_not_run_until_it_is_trusted_again(world: World) -> None:
    hook(world, "pre_task", "echo old")
    trust(world)
    change = call("write_file", path=".code-agent-cli/hooks/pre_task.new", content="#!/bin/sh\necho new")
    session = world.begin([change, say("One."), say("Two.")])
    await talk(session, "one", "two")
    assert newest(world.requests[-1]) == "two"
    assert [str(notice) for notice in world.notices] == [
        "The hooks of this folder are not run until you trust it: codeagent config trust"
    ]


async def test_an_edit_counts_though_its_hook_is_interrupted(world: World) -> None:
    hook(world, "post_edit", "touch started; sleep 60")
    trust(world)
    session = world.begin([write("a.py")])
    following = asyncio.create_task(talk(session, "go"))
    while not (world.top / "started").exists():
        await asyncio.sleep(0.01)
    session.interrupt()
    results = [event.result for event in await following if isinstance(event, ToolFinished)]
    assert ([result.failed for result in results], (world.top / "a.py").exists()) == ([False], True)
    assert log(world)[-1] == "hook: post_edit: interrupted"
    check_valid(session)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo out; exit 1", "The hook pre_task failed with exit code 1."),
        ("head -c 3000000 /dev/zero | tr '\\0' x", None),
        ("chmod -x $0", "The hook pre_task is not executable and was not run."),
    ],
)
async def test_a_hook_that_misbehaves_does_not_stop_the_turn(world: World, script: str, told: str | None) -> None:
    hook(world, "pre_task", script)
    if told and "executable" in told:
        (world.top / ".code-agent-cli/hooks/pre_task").chmod(0o644)
    trust(world)
    session = world.begin([say("One.")])
    await talk(session, "one")
    assert ([str(notice) for notice in world.notices], len(newest(world.requests[0])) < 9_000) == (
        [told] if told else [],
        True,
    )
    check_valid(session)


# ---- two programs in one project -----------------------------------------------------------------------------------


async def test_the_second_session_reads_until_the_first_is_closed(world: World) -> None:
    task_files(world)
    note = call("update_task", section="notes", content="ours")
    first = world.begin([say("One.")], id="s1")
    await talk(first, "one")
    second = world.begin([note, say("No."), note, say("Yes.")], id="s2")
    refused = [event.result.failed for event in await talk(second, "two") if isinstance(event, ToolFinished)]
    await first.aclose()
    written = [event.result.failed for event in await talk(second, "three") if isinstance(event, ToolFinished)]
    assert (refused, written) == ([True], [False])
    assert [str(notice) for notice in world.notices] == [
        f"Another codeagent (process {os.getpid()}) works in this project: its task memory is read, not written.",
        "The other codeagent is gone: task memory is written again.",
    ]


async def test_a_lock_that_a_dead_process_left_is_no_lock(world: World) -> None:
    task_files(world)
    world.file(f"{MEMORY}/task.lock", "999999")
    session = world.begin([call("update_task", section="notes", content="ours"), say("Yes.")])
    results = [event.result.failed for event in await talk(session, "go") if isinstance(event, ToolFinished)]
    assert (results, world.notices) == ([False], [])
