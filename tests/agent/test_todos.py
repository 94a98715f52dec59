"""The todo list outlives compaction, resume and rewind."""

from __future__ import annotations

import json
from pathlib import Path

from codeagent.core.todo import Todo, TodoState
from codeagent.history.latest import last_call
from codeagent.llm.providers.scripted import Step, call, say, summary
from tests.agent._world import World, check_valid, events, said
from tests.agent.conftest import Make

FIRST = (Todo("读 parser", "done"), Todo("write the test", "in_progress"))
SECOND = (Todo("读 parser", "done"), Todo("write the test", "done"), Todo("run it"))


def todo(*items: Todo) -> Step:
    return call("todo", items=[{"content": item.content, "state": item.state} for item in items])


def system(world: World, place: int = -1) -> str:
    text: str = json.loads(world.requests[place].messages[0])["content"]
    return text


async def test_it_is_the_newest_call_that_counts(world: World) -> None:
    wrong = call("todo", items=[{"state": "x"}])
    session = world.begin([todo(*FIRST), todo(*SECOND), say("Later."), wrong, say("Hm.")])
    await events(session.run_turn("go"))
    assert session.todos == SECOND
    await events(session.run_turn("on"))
    assert session.todos == SECOND
    assert last_call(session.history.path, "todo") == json.dumps(_items(SECOND), ensure_ascii=False)


async def test_after_a_compaction_the_prompt_holds_it_and_so_does_a_resume(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = world.begin([todo(*FIRST), say("Words. " * 400), say("Two."), summary("Short."), say("Three.")])
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    await events(session.compact())
    await events(session.run_turn("three"))
    assert "write the test" not in system(world, 0)
    assert "[x] 读 parser\n[>] write the test" in system(world)
    assert "todo" not in said(session)
    again = await world.resume(session, [say("Four.")])
    assert again.todos == FIRST
    await events(again.run_turn("four"))
    assert "[x] 读 parser\n[>] write the test" in system(world)
    check_valid(again)


async def test_a_list_that_is_done_leaves_the_prompt(world: World) -> None:
    session = world.begin([todo(Todo("写", "done")), say("Done.")])
    await events(session.run_turn("go"))
    again = await world.resume(session, [say("Yes.")])
    await events(again.run_turn("on"))
    assert (again.todos, "写" in system(world)) == ((Todo("写", "done"),), False)


async def test_what_is_taken_back_does_not_count(world: World) -> None:
    session = world.begin([todo(*FIRST), say("One."), todo(*SECOND), say("Two.")])
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    assert session.todos == SECOND
    second = next(entry for entry in session.history.entries if entry.said == "two")
    await session.history.undo(second.id)
    assert session.todos == FIRST
    assert (await world.resume(session)).todos == FIRST


async def test_clear_begins_without(world: World) -> None:
    session = world.begin([todo(*FIRST), say("One."), say("Two.")])
    await events(session.run_turn("one"))
    session.clear()
    assert session.todos == ()
    await events(session.run_turn("two"))
    assert (await world.resume(session)).todos == ()


def test_a_session_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    assert last_call(path, "todo") is None
    path.write_bytes(b'{"v":1,"type":"message","name":"todo"}\nnot json "name":"todo"\n{"type":"undo"}\n[1]\n')
    assert last_call(path, "todo") is None


def _items(todos: tuple[Todo, ...]) -> dict[str, list[dict[str, str | TodoState]]]:
    return {"items": [{"content": item.content, "state": item.state} for item in todos]}
