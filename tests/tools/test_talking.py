"""The tools that speak with the person, beyond what `cases/talking.toml` says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from codeagent.core.sections import Section
from codeagent.core.todo import Todo
from codeagent.core.ui import Answer, Markdown, Shown
from codeagent.tools.builtin.todo import read_items
from codeagent.tools.todos import TodoList, todo_section
from tests.tools.world import Person, World

PLAN = "# 计划\n\n1. read\n2. write"


@dataclass
class Editor(Person):
    """Somebody with an editor, who keeps what was shown."""

    edits: list[str | None] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)

    async def edit(self, text: str) -> str | None:
        return self.edits.pop(0)

    def show(self, shown: Shown) -> None:
        self.shown.append(shown)


async def test_nobody_is_there(world: World) -> None:
    world.person.interactive = False
    world.plan.planning = True
    asked = await world.run("ask_user", question="Which?", options=["a", "b"])
    planned = await world.run("exit_plan", plan=PLAN)
    assert [(result.failed, result.denied) for result in (asked, planned)] == [(True, True)] * 2
    assert (world.person.asked, world.plan.planning) == ([], True)


async def test_the_question_is_what_the_person_sees(world: World) -> None:
    await world.run("ask_user", question="Which one?", options=["first  line", " "])
    (question,) = world.person.asked
    assert question.title == "Which one?"
    assert [(choice.label, choice.feedback) for choice in question.choices] == [
        ("first line", False),
        ("Something else, in my own words", True),
    ]


@pytest.mark.parametrize(("key", "edits"), [("yes", False), ("edits", True)])
async def test_a_plan_is_shown_and_approved(world: World, key: str, edits: bool) -> None:
    world.plan.planning = True
    person = _sit(world, Editor([Answer(key)]))
    result = await world.run("exit_plan", plan=f"\n{PLAN}\n")
    assert (result.failed, world.plan.planning, world.plan.edits) == (False, False, edits)
    assert person.shown == [Markdown(PLAN)]
    assert "计划" not in result.text


async def test_a_plan_is_rejected_with_words(world: World) -> None:
    world.plan.planning = True
    _sit(world, Editor([Answer("no", " 先写测试 ")]))
    result = await world.run("exit_plan", plan=PLAN)
    assert (result.failed, result.denied, world.plan.planning) == (True, True, True)
    assert '"先写测试"' in result.text


async def test_a_plan_is_changed_in_the_editor_and_approved(world: World) -> None:
    world.plan.planning = True
    person = _sit(world, Editor([Answer("change"), Answer("change"), Answer("yes")], edits=[None, "1. 只读\n"]))
    result = await world.run("exit_plan", plan=PLAN)
    assert person.shown == [Markdown(PLAN), Markdown(PLAN), Markdown("1. 只读")]
    assert [bool(question.detail) for question in person.asked] == [False, True, False]
    assert result.text.endswith("\n\n1. 只读")
    assert not world.plan.planning


async def test_a_changed_plan_that_is_rejected_reaches_the_model(world: World) -> None:
    world.plan.planning = True
    _sit(world, Editor([Answer("change"), Answer("no")], edits=["1. 只读"]))
    result = await world.run("exit_plan", plan=PLAN)
    assert result.text.endswith("\n\n1. 只读")
    assert world.plan.planning


def _sit(world: World, person: Editor) -> Editor:
    world.person = person
    world.ctx = replace(world.ctx, ui=person)
    return person


# ---- the list ------------------------------------------------------------------------------------------------------


def test_what_was_taken_back_is_read_again_from_the_past() -> None:
    past = [Todo("a", "done"), Todo("b")]
    todos = TodoList(lambda: past)
    assert todos.items == (Todo("a", "done"), Todo("b"))
    todos.replace([Todo("c")])
    assert todos.items == (Todo("c"),)
    todos.taken_back({"m7"})
    assert todos.items == tuple(past)
    todos.cleared()
    assert todos.items == ()


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "{}", '{"items": 1}', '{"items": [{"state": "done"}]}', "[" * 9_999]
)
def test_arguments_that_do_not_fit_are_no_list(arguments: str) -> None:
    assert read_items(arguments) is None


def test_the_prompt_holds_what_is_left_to_do() -> None:
    section = todo_section([Todo("读", "done"), Todo("write", "in_progress"), Todo("run")])
    assert isinstance(section, Section)
    assert section.body.split("\n")[1:] == ["[x] 读", "[>] write", "[ ] run"]
    assert todo_section([Todo("a", "done")]) is todo_section([]) is None
