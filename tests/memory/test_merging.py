"""Facts from elsewhere: each is there once afterwards, and nothing that was there is lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.entry import Fact, Scope
from codeagent.memory.merging import Merged, merge
from tests.memory._world import counted_ids


def taken(facts: list[Fact], incoming: list[Fact]) -> tuple[list[Fact], Merged]:
    number = counted_ids()
    return merge(facts, incoming, lambda content: content == "secret", lambda ids: f"new-{number()}", NOW)


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
CAME = "2026-05-01T12:00:00.000000Z"
ONE = Fact("a", "one", key="k", updated="2026-01-01T00:00:00Z")


def test_what_is_there_already_is_known_whatever_its_id() -> None:
    assert taken([ONE], [replace(ONE, id="z", key=None)]) == ([ONE], Merged(known=1))


def test_another_fact_of_the_same_id_gets_a_new_one() -> None:
    other = Fact("a", "two")
    assert taken([ONE], [other]) == ([ONE, replace(other, id="new-f1", imported=CAME)], Merged(added=1))


def test_remembered_wins_over_forgotten() -> None:
    gone = replace(ONE, forgotten="2026-02-01T00:00:00Z")
    assert taken([gone], [ONE]) == ([replace(ONE, imported=CAME)], Merged(added=1))
    assert taken([ONE], [gone]) == ([ONE], Merged(known=1))
    assert taken([gone], [gone]) == ([gone], Merged(known=1))


def test_the_newer_holds_the_key() -> None:
    newer = Fact("b", "two", key="k", updated="2026-02-01T00:00:00Z")
    facts, counts = taken([ONE], [newer])
    without = replace(ONE, key=None, versions=facts[0].versions)
    assert (facts, counts) == ([without, replace(newer, imported=CAME)], Merged(added=1))
    assert [(old["key"], old["replaced"]) for old in without.versions] == [("k", CAME)]
    assert taken([newer], [ONE]) == ([newer, replace(ONE, key=None, imported=CAME)], Merged(added=1))


def test_secrets_are_not_kept() -> None:
    assert taken([], [Fact("a", "secret")]) == ([], Merged(refused=1))


@st.composite
def facts(draw: st.DrawFn) -> list[Fact]:
    scopes: list[tuple[Scope, str | None]] = [("global", None), ("project", "shop")]
    found = {}
    for id in draw(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)):
        scope, project = draw(st.sampled_from(scopes))
        gone = draw(st.sampled_from([None, "2026-03-01T00:00:00Z"]))
        content, updated = draw(st.sampled_from("12345")), draw(st.sampled_from("123"))
        found[scope, content] = Fact(id, content, "fact", scope, project, None, "", updated, forgotten=gone)
    return list(found.values())


@given(facts(), facts())
def test_merging_twice_is_merging_once_and_ids_stay_unique(ours: list[Fact], theirs: list[Fact]) -> None:
    once, counts = taken(ours, theirs)
    assert taken(once, theirs) == (once, Merged(known=len(theirs)))
    assert counts.added + counts.known == len(theirs)
    assert len({fact.id for fact in once}) == len(once)
    remembered = {(fact.scope, fact.content) for fact in [*ours, *theirs] if fact.forgotten is None}
    assert {(fact.scope, fact.content) for fact in once if fact.forgotten is None} == remembered
