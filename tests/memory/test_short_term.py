"""Short-term memory: order, budget, waiting room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.short_term import ConversationMemory, MemoryEntry


def entry(id: str, tokens: int = 10) -> MemoryEntry:
    return MemoryEntry(id, "user", f"text of {id}", tokens)


def filled(count: int, budget: int | None = None) -> ConversationMemory:
    memory = ConversationMemory(budget)
    for number in range(1, count + 1):
        memory.append(entry(f"m{number}"))
    return memory


def state(memory: ConversationMemory) -> tuple[list[str], list[str], int]:
    """(ids in the waiting room, ids of the entries, tokens)."""
    return [one.id for one in memory.compressed_summaries], [one.id for one in memory.entries], memory.tokens


def test_over_the_budget_the_oldest_entries_are_set_aside_and_keep_their_data() -> None:
    memory = filled(5, budget=30)
    assert state(memory) == (["m1", "m2"], ["m3", "m4", "m5"], 30)
    assert memory.get("m1") == entry("m1")
    assert [one.id for one in memory] == ["m1", "m2", "m3", "m4", "m5"]


def test_an_entry_larger_than_the_budget_is_set_aside_itself() -> None:
    memory = filled(2, budget=30)
    memory.append(entry("m3", 31))
    assert state(memory) == (["m1", "m2", "m3"], [], 0)


def test_evicting_is_a_move() -> None:
    memory = filled(2)
    assert memory.evict_oldest() == entry("m1")
    assert state(memory) == (["m1"], ["m2"], 10)
    assert memory.evict_oldest() == entry("m2")
    assert memory.evict_oldest() is None


def test_entries_are_found_and_deleted_by_id_wherever_they_are() -> None:
    memory = filled(4, budget=20)
    assert (memory.delete("m1"), memory.delete("m4"), memory.delete("m9")) == (True, True, False)
    assert state(memory) == (["m2"], ["m3"], 10)
    assert (memory.get("m4"), memory.get("m2")) == (None, entry("m2"))


def test_an_entry_that_comes_again_takes_the_newest_place() -> None:
    memory = filled(3)
    memory.append(entry("m1", 20))
    assert state(memory) == ([], ["m2", "m3", "m1"], 40)


def test_a_smaller_budget_sets_aside_at_once() -> None:
    memory = filled(4)
    memory.resize(25)
    assert (state(memory), memory.budget) == ((["m1", "m2"], ["m3", "m4"], 20), 25)


def test_a_summary_stands_before_what_is_left() -> None:
    memory = filled(6, budget=40)
    memory.replace([entry("m1"), entry("m2"), entry("m3")], MemoryEntry("s1", "summary", "three", 5))
    assert state(memory) == ([], ["s1", "m4", "m5", "m6"], 35)


def test_a_summary_stands_before_what_was_set_aside_meanwhile() -> None:
    memory = filled(6, budget=40)
    memory.replace([entry("m1")], MemoryEntry("s1", "summary", "one", 5))
    assert state(memory) == (["s1", "m2"], ["m3", "m4", "m5", "m6"], 40)


def test_clearing_empties_the_waiting_room_too() -> None:
    memory = filled(6, budget=40)
    memory.clear()
    assert (state(memory), len(memory)) == (([], [], 0), 0)


def test_a_hundred_thousand_entries() -> None:
    """Each step costs the same at any size: this would take minutes otherwise."""
    memory = filled(100_000, budget=1_000)
    assert (len(memory.compressed_summaries), len(memory.entries), memory.tokens) == (99_900, 100, 1_000)
    while memory.evict_oldest():
        pass
    for number in range(100_000, 0, -1):
        assert memory.delete(f"m{number}")
    assert len(memory) == 0


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 60)),
        st.tuples(st.just("evict"), st.just(0)),
        st.tuples(st.just("delete"), st.integers(0, 40)),
        st.tuples(st.just("resize"), st.integers(0, 200)),
        st.tuples(st.just("replace"), st.integers(1, 8)),
    ),
    max_size=60,
)


@given(STEPS)
def test_order_budget_and_every_entry_survive_any_course_of_events(steps: list[tuple[str, int]]) -> None:
    memory, expected, made = ConversationMemory(100), list[str](), 0
    for step, number in steps:
        match step:
            case "append":
                made += 1
                expected.append(f"m{made}")
                memory.append(entry(f"m{made}", number))
            case "evict":
                memory.evict_oldest()
            case "delete" if expected:
                assert memory.delete(expected.pop(number % len(expected)))
            case "resize":
                memory.resize(number)
            case "replace" if expected:
                made += 1
                gone = [one for one in memory if one.id in expected[:number]]
                expected[:number] = [f"m{made}"]
                memory.replace(gone, MemoryEntry(f"m{made}", "summary", "several", 3))
        assert [one.id for one in memory] == expected
        assert memory.tokens == sum(one.tokens for one in memory.entries) <= (memory.budget or 0)
        assert all(memory.get(id) is not None for id in expected)
