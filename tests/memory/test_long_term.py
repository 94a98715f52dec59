"""The rules of long-term memory."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.errors import StoreError
from codeagent.core.ports import LONGEST_FACT, Saved
from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.entry import Fact, Scope, Source
from codeagent.memory.long_term import LongTermMemory
from tests.memory._world import Clock, counted_ids

TYPED = Source("user", "s1", 1, "/save it")
NOON, ONE = "2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"


class World:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = Clock()
        self.ids = counted_ids()
        self.shop = self.open("shop")
        self.blog = self.open("blog")

    def open(self, project: str) -> LongTermMemory:
        return LongTermMemory(JsonFile(self.path), project, self.clock, self.ids)


def keep(
    memory: LongTermMemory, content: str, scope: Scope = "project", key: str | None = None, type: str | None = None
) -> Saved:
    return memory.save(content, scope=scope, type=type, key=key, source=TYPED)


def contents(memory: LongTermMemory) -> list[str]:
    return [fact.content for fact in memory.visible()]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "facts.json")


def test_a_fact_is_on_disk_at_once(world: World) -> None:
    assert (keep(world.shop, "  数据库端口是 5433 \n").state, keep(world.shop, "Use tabs.", "global").state) == (
        "saved",
        "saved",
    )
    assert world.open("shop").visible() == [
        Fact("f1", "数据库端口是 5433", "fact", "project", "shop", None, NOON, NOON, TYPED),
        Fact("f2", "Use tabs.", "fact", "global", None, None, NOON, NOON, TYPED),
    ]


def test_a_project_sees_its_own_facts_and_the_global_ones(world: World) -> None:
    keep(world.shop, "Shop only.")
    keep(world.blog, "Blog only.")
    keep(world.blog, "Everywhere.", "global")
    assert (contents(world.shop), contents(world.blog)) == (
        ["Shop only.", "Everywhere."],
        ["Blog only.", "Everywhere."],
    )


def test_the_same_content_is_kept_once(world: World) -> None:
    first = keep(world.shop, "Use pnpm.")
    again = keep(world.shop, " Use pnpm.\n")
    assert (again.state, again.id, contents(world.shop)) == ("known", first.id, ["Use pnpm."])


def test_one_projects_copy_does_not_block_anothers(world: World) -> None:
    assert [keep(world.shop, "Use pnpm.").state, keep(world.blog, "Use pnpm.").state] == ["saved", "saved"]
    assert (contents(world.shop), contents(world.blog)) == (["Use pnpm."], ["Use pnpm."])


def test_what_is_global_is_not_stored_again_for_a_project(world: World) -> None:
    everywhere = keep(world.shop, "Use pnpm.", "global")
    assert keep(world.blog, "Use pnpm.") == Saved("known", everywhere.id, "Already remembered: Use pnpm.")


def test_what_becomes_global_is_listed_once(world: World) -> None:
    keep(world.shop, "Use pnpm.")
    assert keep(world.blog, "Use pnpm.", "global").state == "saved"
    assert [(fact.content, fact.scope) for fact in world.shop.visible()] == [("Use pnpm.", "global")]


def test_the_same_key_replaces_and_keeps_the_old_value(world: World) -> None:
    keep(world.shop, "The port is 5432.", key="port")
    world.clock.pass_hours(1)
    saved = keep(world.shop, "The port is 5433.", key="port")
    old = {
        "content": "The port is 5432.",
        "updated": NOON,
        "source": {"by": "user", "session": "s1", "turn": 1, "quote": "/save it"},
        "replaced": "2026-05-01T13:00:00.000000Z",
    }
    assert saved.state == "replaced"
    assert world.shop.visible() == [
        Fact("f1", "The port is 5433.", "fact", "project", "shop", "port", NOON, ONE, TYPED, (old,))
    ]


def test_a_key_is_a_key_within_its_scope(world: World) -> None:
    keep(world.shop, "5432", key="port")
    keep(world.blog, "3306", key="port")
    keep(world.blog, "1", "global", key="port")
    assert (contents(world.shop), contents(world.blog)) == (["5432", "1"], ["3306", "1"])


def test_the_same_key_and_content_is_known(world: World) -> None:
    keep(world.shop, "5432", key="port")
    assert (keep(world.shop, "5432", key="port").state, len(world.shop.visible()[0].versions)) == ("known", 0)


def test_forgetting_returns_the_whole_fact(world: World) -> None:
    keep(world.shop, "Use pnpm.")
    keep(world.shop, "Use tabs.")
    forgotten = world.shop.forget("f1")
    assert forgotten == Fact("f1", "Use pnpm.", "fact", "project", "shop", None, NOON, NOON, TYPED)
    assert contents(world.open("shop")) == ["Use tabs."]


def test_an_id_may_be_cut_short_while_it_is_one(world: World) -> None:
    for number in range(11):
        keep(world.shop, f"Fact number {number}.")
    assert world.shop.forget("f11").content == "Fact number 10."
    assert world.shop.forget("f1").content == "Fact number 0."
    assert world.shop.forget("f1").content == "Fact number 9."
    with pytest.raises(StoreError, match="Several facts"):
        world.shop.forget("f")


@pytest.mark.parametrize("reference", ["f9", "", "f1"])
def test_what_is_not_there_or_not_ours_cannot_be_forgotten(world: World, reference: str) -> None:
    keep(world.blog, "Blog only.")
    with pytest.raises(StoreError, match="No fact"):
        world.shop.forget(reference)
    assert contents(world.blog) == ["Blog only."]


@pytest.mark.parametrize(
    "content", ["", " \n", "x" * (LONGEST_FACT + 1), "password=hunter22", "token ghp_" + "a1" * 18]
)
def test_nothing_much_too_long_or_secret_is_kept(world: World, content: str) -> None:
    assert (keep(world.shop, content).state, world.path.exists()) == ("refused", False)


def test_what_is_known_gets_the_key_and_the_type_that_are_given(world: World) -> None:
    keep(world.shop, "Use tabs.", type="rule")
    assert keep(world.shop, "Use tabs.", key="indent").state == "replaced"
    assert keep(world.shop, "Use tabs.").state == "known"
    world.clock.pass_hours(1)
    assert keep(world.shop, "Use tabs.", type="preference").state == "replaced"
    (fact,) = world.shop.visible()
    assert (fact.type, fact.key, fact.updated) == ("preference", "indent", ONE)
    was = [(version["content"], version.get("type"), version.get("key", "none")) for version in fact.versions]
    assert was == [("Use tabs.", None, None), ("Use tabs.", "rule", "none")]


def test_a_content_that_moves_under_a_key_is_there_once(world: World) -> None:
    keep(world.shop, "one", key="k")
    keep(world.shop, "two")
    assert keep(world.shop, "two", key="k").state == "replaced"
    assert [(fact.id, fact.content) for fact in world.shop.visible()] == [("f1", "two")]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    saves=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([None, "k", "l"]), st.sampled_from([None, "rule", "fact"])),
        max_size=12,
    )
)
def test_a_key_and_a_content_belong_to_one_fact_each(
    tmp_path: Path, saves: list[tuple[str, str | None, str | None]]
) -> None:
    memory = World(tmp_path / "facts.json").open(f"p{uuid4()}")
    for content, key, type in saves:
        keep(memory, content, key=key, type=type)
        facts = memory.visible()
        held = [fact.key for fact in facts if fact.key is not None]
        assert (len({fact.content for fact in facts}), len(set(held))) == (len(facts), len(held))
        (found,) = [fact for fact in facts if fact.content == content]
        assert (key in (None, found.key), type in (None, found.type)) == (True, True)


def test_no_secret_is_kept_as_a_key_or_under_one_that_names_it(world: World) -> None:
    for key, content in (("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "The port."), ("password", "hunter22")):
        assert keep(world.shop, content, key=key).state == "refused"
    assert contents(world.shop) == []


def test_a_secret_in_the_message_that_asked_is_not_kept_with_the_fact(world: World) -> None:
    quote = "remember that the port is 5433; my key is sk-proj-abcdefghij1234567890"
    world.shop.save("The port is 5433.", scope="project", type="fact", key=None, source=Source("tool", "s", 1, quote))
    assert world.shop.visible()[0].source == Source("tool", "s", 1, "")


# ---- changes of mind -------------------------------------------------------------------------------------------------

EDIT = Source("user", "s2", 4, "/memory edit f1 two")


def test_an_edit_keeps_what_stood_there(world: World) -> None:
    keep(world.shop, "one", key="k")
    before = world.shop.get("f1")
    world.clock.pass_hours(1)
    assert world.shop.edit("f", " two ", EDIT) == Saved("replaced", "f1", "Changed: two")
    fact = world.shop.get("f1")
    assert (fact.content, fact.key, fact.created, fact.updated, fact.source) == ("two", "k", before.created, ONE, EDIT)
    assert [(old["content"], old["updated"]) for old in fact.versions] == [("one", NOON)]


def test_an_edit_makes_no_double_and_lets_no_secret_in(world: World) -> None:
    keep(world.shop, "one")
    keep(world.shop, "two")
    before = world.shop.visible()
    assert world.shop.edit("f1", "two", EDIT) == Saved("known", "f2", "Already remembered: two")
    assert world.shop.edit("f1", "password=hunter2hunter2", EDIT).state == "refused"
    assert world.shop.edit("f1", "  ", EDIT).state == "refused"
    assert world.shop.visible() == before


def test_what_is_forgotten_is_no_obstacle(world: World) -> None:
    keep(world.shop, "one", key="k")
    world.shop.forget("f1")
    assert (keep(world.shop, "one").state, keep(world.shop, "two", key="k").state) == ("saved", "saved")
    assert contents(world.shop) == ["one", "two"]
    with pytest.raises(StoreError):
        world.shop.get("f1")


def test_a_key_that_is_taken_meanwhile_keeps_the_forgotten_fact_out(world: World) -> None:
    keep(world.shop, "one", key="k")
    world.shop.forget("f1")
    keep(world.shop, "two", key="k")
    with pytest.raises(StoreError, match="f2"):
        world.shop.undo("f1")
    world.shop.forget("f2")
    assert world.shop.undo("f1").fact.content == "one"
    assert contents(world.shop) == ["one"]


def test_one_project_does_not_bring_back_what_another_forgot(world: World) -> None:
    keep(world.shop, "one")
    keep(world.blog, "two", scope="global")
    world.shop.forget("f1")
    world.shop.forget("f2")
    assert [fact.content for fact in world.blog.forgotten()] == ["two"]
    with pytest.raises(StoreError):
        world.blog.undo("f1")
    assert world.blog.undo().fact.content == "two"
    assert (contents(world.blog), contents(world.shop)) == (["two"], ["two"])


# ---- taking a change back ------------------------------------------------------------------------------------------


def test_the_last_change_is_taken_back_whichever_it_was(world: World) -> None:
    states: list[list[Fact]] = [[]]
    for change in (
        lambda: keep(world.shop, "one", key="k", type="rule"),
        lambda: keep(world.shop, "two"),
        lambda: world.shop.edit("f2", "2", EDIT),
        lambda: keep(world.shop, "uno", key="k", type="fact"),
        lambda: world.shop.forget("f2"),
        lambda: keep(world.shop, "uno", type="preference"),
        lambda: keep(world.shop, "uno", key="l"),
        lambda: keep(world.shop, "three"),
    ):
        world.clock.pass_hours(1 / 7200)  # several within a second have an order, too
        change()
        states.append(world.shop.visible())
    told = []
    while states.pop() is not None and states:
        told.append(world.shop.undo().told)
        assert world.shop.visible() == states[-1]
    assert told == [
        "No longer remembered: three (undo f3 brings it back)",
        "As it was before, as “k”: uno",
        "As it was before, of type fact: uno",
        "Remembered again: 2",
        "As it was before: one (not: uno)",
        "As it was before: two (not: 2)",
        "No longer remembered: two (undo f2 brings it back)",
        "No longer remembered: one (undo f1 brings it back)",
    ]
    with pytest.raises(StoreError, match="Nothing that was remembered, forgotten or changed"):
        world.shop.undo()
    assert world.shop.undo("f2").told == "Remembered again: two"
    assert contents(world.shop) == ["two"]


def test_an_import_is_taken_back_as_a_whole_and_leaves_what_changed_since(world: World) -> None:
    keep(world.shop, "one", key="k")
    for word in ("two", "three"):
        keep(world.blog, word)
    world.shop.forget("f1")
    world.shop.undo()
    before = world.shop.all()
    world.clock.pass_hours(1)
    came = [
        Fact("x", "uno", "fact", "project", "shop", "k", updated=ONE),
        Fact("y", "everywhere", scope="global"),
        Fact("z", "elsewhere", scope="project", project="news"),
    ]
    assert world.blog.merge(came).added == 3
    assert world.shop.undo().told == "The import is taken back: 4 facts changed with it."
    assert [fact for fact in world.shop.all() if fact.forgotten is None] == list(before)
    assert world.blog.merge(came).added == 3
    world.clock.pass_hours(1)
    world.shop.edit("x", "un", EDIT)
    assert [world.shop.undo().told for _ in range(2)] == [
        "As it was before: uno (not: un)",
        "The import is taken back: 4 facts changed with it.",
    ]
    assert contents(world.shop) == ["one"]


def test_a_content_that_moved_under_a_key_goes_back_in_two_steps(world: World) -> None:
    keep(world.shop, "one", key="k")
    keep(world.shop, "two")
    before = world.shop.visible()
    keep(world.shop, "two", key="k")
    world.shop.undo()
    world.shop.undo()
    assert world.shop.visible() == before


def test_an_edit_of_one_fact_is_taken_back_by_its_id(world: World) -> None:
    for word in ("one", "two"):
        keep(world.shop, word)
    world.shop.edit("f1", "uno", EDIT)
    world.clock.pass_hours(1)
    world.shop.edit("f2", "due", EDIT)
    assert world.shop.undo("f1").told == "As it was before: one (not: uno)"
    assert contents(world.shop) == ["one", "due"]


def test_what_cannot_come_back_beside_another_is_said(world: World) -> None:
    keep(world.shop, "two")
    world.clock.pass_hours(1)
    world.shop.edit("f1", "due", EDIT)
    world.clock.pass_hours(1)
    keep(world.shop, "two")
    with pytest.raises(StoreError, match="two is remembered again already, as f2"):
        world.shop.undo("f1")
    world.shop.undo()
    assert world.shop.undo().told == "As it was before: two (not: due)"


def test_versions_of_earlier_programs_and_damaged_ones_can_be_met(world: World) -> None:
    world.path.write_text(
        '[{"id":"a","content":"new","updated":"2026-01-01T00:00:00Z","versions":[{"content":"old"}]},'
        '{"id":"b","content":"b","versions":[{"content":5}]}]'
    )
    assert world.shop.undo().told == "As it was before: old (not: new)"
    with pytest.raises(StoreError):
        world.shop.undo()
