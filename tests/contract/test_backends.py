"""What every memory backend that is found promises: nothing lost, nothing twice, whatever happens to the file."""

from __future__ import annotations

import fcntl
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.errors import StoreError
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.backends.sqlite import SqliteFile
from codeagent.memory.entry import Backend, BackendKind, Fact, Scope, Source
from codeagent.memory.long_term import LongTermMemory

KINDS: dict[str, BackendKind] = {kind.name: kind for kind in discover(backends, "BACKEND").values()}
DATABASE = Fact(
    "a1",
    "数据库端口是 5433 🐘",
    "fact",
    "project",
    "shop-0123456789ab",
    "db-port",
    "2026-01-02T03:04:05Z",
    "2026-02-03T04:05:06Z",
    Source("tool", "20260102-030405-abcdef", 3, "记一下，数据库端口是 5433", {"device": "laptop"}),
    ({"content": "数据库端口是 5432", "updated": "2026-01-02T03:04:05Z", "source": {"by": "user"}},),
    "2030-01-01",
    None,
    {"mood": "good"},
)
PNPM = Fact("b2", "Use pnpm, not npm.", "rule", "global", created="2026-01-01T00:00:00Z")
GONE = Fact("c3", "The lead is Ann.", "fact", "global", forgotten="2026-03-01T00:00:00.000001Z")

ADDER = """
import sys
from pathlib import Path
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.entry import Fact
kind, path, who, count = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
store = {kind.name: kind for kind in discover(backends, "BACKEND").values()}[kind].open(path)
for number in range(count):
    fact = Fact(f"{who}-{number}", f"fact {number} of {who}")
    store.update(lambda facts: [*facts, fact])
    print(fact.id, flush=True)
"""

FULL = """
import resource, sys
from pathlib import Path
from codeagent.core.errors import StoreError
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.entry import Fact
kind, path, room = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
store = {kind.name: kind for kind in discover(backends, "BACKEND").values()}[kind].open(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    store.update(lambda facts: [*facts, Fact("big", "x" * 100_000)])
except StoreError as error:
    print(error)
"""


class Place:
    """A backend's file in an empty folder, opened as often as one likes."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind, self.given = kind, root / "memory" / "long_term_memory.json"

    def open(self) -> Backend:
        return KINDS[self.kind].open(self.given)

    @property
    def file(self) -> Path:
        return self.open().path

    def damaged(self) -> list[str]:
        return sorted(file.name for file in self.file.parent.glob("*.damaged-*"))

    def adder(self, who: str, count: int) -> subprocess.Popen[str]:
        arguments = [self.kind, str(self.given), who, str(count)]
        return subprocess.Popen([sys.executable, "-c", ADDER, *arguments], stdout=subprocess.PIPE, text=True)

    def ids(self) -> list[str]:
        return [fact.id for fact in self.open().load()]


@pytest.fixture(params=sorted(KINDS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(request.param, tmp_path)


def test_the_known_ones_are_found() -> None:
    assert sorted(KINDS) == ["json_file", "sqlite"]


def test_facts_come_back_as_they_went_in_their_order(place: Place) -> None:
    place.open().update(lambda facts: [PNPM, GONE, DATABASE])
    again = place.open()
    assert (again.load(), again.notices()) == ((PNPM, GONE, DATABASE), ())


def test_an_empty_place_holds_nothing_and_reading_makes_nothing(place: Place) -> None:
    store = place.open()
    assert (store.load(), store.notices(), place.given.parent.exists()) == ((), (), False)


def test_the_file_is_private(place: Place) -> None:
    place.open().update(lambda facts: [DATABASE])
    place.open().update(lambda facts: [*facts, PNPM])
    modes = {file.name: file.stat().st_mode & 0o777 for file in place.file.parent.iterdir()}
    assert modes == {place.file.name + ending: 0o600 for ending in ("", ".bak", ".lock")}
    assert place.file.parent.stat().st_mode & 0o777 == 0o700


Lists = st.lists(st.integers(0, 30), max_size=8)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lists=st.lists(Lists, min_size=1, max_size=5))
def test_any_list_can_take_the_place_of_any_other(place: Place, lists: list[list[int]]) -> None:
    """Facts are added, changed, dropped and moved at will; another reader sees exactly the newest list."""
    pool = [Fact(f"f{number}", f"fact {number}") for number in range(31)]
    writer, reader = place.open(), place.open()
    for numbers in lists:
        wanted = tuple(pool[number] for number in numbers)
        writer.update(lambda facts, wanted=wanted: wanted)  # type: ignore[misc]
        assert (writer.load(), reader.load(), place.open().load()) == (wanted, wanted, wanted)


def test_a_change_sees_what_another_process_has_stored(place: Place) -> None:
    one, other = place.open(), place.open()
    one.update(lambda facts: [PNPM])
    other.update(lambda facts: [*facts, DATABASE])
    one.update(lambda facts: [*facts, GONE])
    assert one.load() == other.load() == (PNPM, DATABASE, GONE)


def test_a_change_that_changes_nothing_writes_nothing(place: Place) -> None:
    store = place.open()
    store.update(lambda facts: [DATABASE])
    before = (place.file.stat().st_ino, place.file.stat().st_mtime_ns)
    store.update(lambda facts: list(facts))
    assert (place.file.stat().st_ino, place.file.stat().st_mtime_ns) == before


def test_a_change_that_fails_changes_nothing(place: Place) -> None:
    def fail(facts: Sequence[Fact]) -> Sequence[Fact]:
        raise StoreError("no such fact")

    store = place.open()
    store.update(lambda facts: [DATABASE])
    with pytest.raises(StoreError, match="no such fact"):
        store.update(fail)
    assert (store.load(), place.open().load()) == ((DATABASE,), (DATABASE,))


@pytest.mark.parametrize("damage", [b"", b'{"version": 1, "entr', b"[" * 100_000, b"\xff\xfe\x00", b"42", b"\0" * 8192])
@pytest.mark.parametrize("first", ["load", "update"])
def test_a_damaged_file_is_set_aside_and_its_backup_used(place: Place, damage: bytes, first: str) -> None:
    store = place.open()
    store.update(lambda facts: [DATABASE])
    store.update(lambda facts: [*facts, PNPM])
    place.file.write_bytes(damage)
    again = place.open()
    if first == "update":
        again.update(lambda facts: list(facts))
    assert again.load() == (DATABASE,)
    aside = place.file.with_name(place.file.name + ".damaged-1")
    assert aside.read_bytes() == damage
    assert [notice.arguments for notice in again.notices()] == [{"aside": str(aside), "count": 1}]
    quiet = place.open()
    assert (quiet.load(), quiet.notices()) == ((DATABASE,), ())
    quiet.update(lambda facts: [*facts, GONE])
    assert place.open().load() == (DATABASE, GONE)


def test_a_file_torn_in_the_middle_is_set_aside(place: Place) -> None:
    many = [Fact(f"f{number}", f"fact {number} " * 20) for number in range(200)]
    store = place.open()
    store.update(lambda facts: many)
    store.update(lambda facts: [*facts, PNPM])
    data = place.file.read_bytes()
    place.file.write_bytes(data[: len(data) // 2] + b"\xa5" * 4096)
    assert place.open().load() == tuple(many)
    assert place.damaged() == [place.file.name + ".damaged-1"]


def test_a_second_damaged_file_does_not_overwrite_the_first(place: Place) -> None:
    place.given.parent.mkdir()
    for damage in (b"first", b"second"):
        place.file.write_bytes(damage)
        assert place.open().load() == ()
    assert place.damaged() == [f"{place.file.name}.damaged-{number}" for number in (1, 2)]


@pytest.mark.parametrize("first", ["load", "update"])
def test_a_damaged_backup_is_set_aside_with_its_file(place: Place, first: str) -> None:
    store = place.open()
    store.update(lambda facts: [DATABASE])
    store.update(lambda facts: [*facts, PNPM])
    backup = place.file.with_name(place.file.name + ".bak")
    for path in (place.file, backup):
        path.write_bytes(b"damage")
    again = place.open()
    if first == "update":
        again.update(lambda facts: list(facts))
    assert again.load() == ()
    (notice,) = again.notices()
    asides = [path.with_name(path.name + ".damaged-1") for path in (place.file, backup)]
    assert notice.arguments == dict(zip(("aside", "backup"), map(str, asides), strict=True))
    assert [path.read_bytes() for path in asides] == [b"damage"] * 2
    again.update(lambda facts: [PNPM])
    saved = place.file.read_bytes()
    again.update(lambda facts: [*facts, GONE])
    assert (backup.read_bytes(), place.open().load()) == (saved, (PNPM, GONE))


def test_where_there_is_no_backup_none_is_said_to_be_used(place: Place) -> None:
    place.open().update(lambda facts: [DATABASE])
    place.file.write_bytes(b"damage")
    store = place.open()
    assert store.load() == ()
    (notice,) = store.notices()
    assert "No backup can be used" in str(notice)


def test_a_newer_file_is_neither_read_nor_touched(place: Place) -> None:
    store = place.open()
    store.update(lambda facts: [PNPM])
    _make_newer(place)
    newer = place.file.read_bytes()
    again = place.open()
    assert (again.load(), len(again.notices())) == ((), 1)
    with pytest.raises(StoreError, match="newer version"):
        again.update(lambda facts: [PNPM])
    assert (place.file.read_bytes(), place.damaged()) == (newer, [])


def _make_newer(place: Place) -> None:
    if place.kind == "sqlite":
        with sqlite3.connect(place.file) as db:
            db.execute("PRAGMA user_version = 2")
        db.close()
    else:
        place.file.write_bytes(b'{"version": 2, "entries": [], "layout": "new"}')


def test_where_nothing_can_be_written_the_error_has_a_sentence(place: Place) -> None:
    place.given.parent.write_text("a file where the folder should be")
    store = place.open()
    with pytest.raises(StoreError, match="cannot be written"):
        store.update(lambda facts: [PNPM])
    assert store.load() == ()


@pytest.mark.parametrize("room", [100, 20_000], ids=["none for the backup", "none for the facts"])
def test_a_full_disk_loses_nothing_and_leaves_nothing_lying(place: Place, room: int) -> None:
    place.open().update(lambda facts: [PNPM])
    place.open().update(lambda facts: [*facts, GONE])
    before = sorted(file.name for file in place.file.parent.iterdir())
    told = subprocess.check_output([sys.executable, "-c", FULL, place.kind, str(place.given), str(room)], text=True)
    assert told.startswith(f"The memory file {place.file} cannot be ")
    assert sorted(file.name for file in place.file.parent.iterdir()) == before
    assert place.open().load() == (PNPM, GONE)


def test_a_linked_file_stays_a_link(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "facts"
    real.parent.mkdir()
    place.given.parent.mkdir()
    link = place.file
    link.symlink_to(real)
    place.open().update(lambda facts: [PNPM])
    place.open().update(lambda facts: [*facts, GONE])
    assert (link.is_symlink(), link.resolve(), place.open().load()) == (True, real, (PNPM, GONE))


# ---- several processes ---------------------------------------------------------------------------------------------


def test_processes_at_once_all_keep_their_facts(place: Place) -> None:
    _all_keep(place, processes=4, facts=40)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eight_processes_at_once_all_keep_two_hundred_facts(place: Place) -> None:
    _all_keep(place, processes=8, facts=200)


def _all_keep(place: Place, processes: int, facts: int) -> None:
    writers = [place.adder(f"w{number}", facts) for number in range(processes)]
    for writer in writers:
        writer.communicate()
    stored = place.ids()
    assert sorted(stored) == sorted(f"w{number}-{fact}" for number in range(processes) for fact in range(facts))
    for number in range(processes):
        mine = [id for id in stored if id.startswith(f"w{number}-")]
        assert mine == [f"w{number}-{fact}" for fact in range(facts)]


def test_a_killed_writer_loses_nothing_that_was_acknowledged(place: Place) -> None:
    killed, other = place.adder("killed", 10_000), place.adder("other", 30)
    assert killed.stdout is not None
    acknowledged = [killed.stdout.readline().strip() for _ in range(20)]
    killed.send_signal(signal.SIGKILL)
    acknowledged += killed.stdout.read().split()
    other_ids = other.communicate()[0].split()
    killed.wait()
    store = place.open()
    stored = {fact.id for fact in store.load()}
    assert store.notices() == ()
    assert set(acknowledged) <= stored
    assert {f"other-{number}" for number in range(30)} == set(other_ids) <= stored
    store.update(lambda facts: [*facts, PNPM])
    assert "b2" in place.ids()


@pytest.mark.slow
def test_a_holder_that_never_lets_go_is_an_error_and_the_wait_leaves_no_lock_behind(place: Place) -> None:
    store = place.open()
    store.update(lambda facts: [PNPM])
    with place.file.with_name(place.file.name + ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="Another process is holding"):
            store.update(lambda facts: [])
    place.open().update(lambda facts: [*facts, GONE])
    assert place.open().load() == (PNPM, GONE)


# ---- very many facts -----------------------------------------------------------------------------------------------


def test_a_hundred_thousand_facts_come_back(place: Place) -> None:
    many = tuple(Fact(f"{number:08x}", f"fact {number}", scope="global") for number in range(100_000))
    store = place.open()
    store.update(lambda facts: many)
    store.update(lambda facts: [*facts, PNPM])
    store.update(lambda facts: [*facts[:50_000], replace(facts[50_000], content="changed"), *facts[50_001:]])
    found = place.open().load()
    assert found == (*many[:50_000], replace(many[50_000], content="changed"), *many[50_001:], PNPM)


# ---- the rules of long-term memory hold on each --------------------------------------------------------------------


class Days:
    """A clock that goes on by a day with each look."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(days=1)
        return self.now


def memory(place: Place, project: str, clock: Callable[[], datetime]) -> LongTermMemory:
    return LongTermMemory(place.open(), project, clock)


def test_the_same_fact_is_kept_once_for_each_project_and_once_for_all(place: Place) -> None:
    clock = Days()
    shop, blog = memory(place, "shop", clock), memory(place, "blog", clock)
    wanted: list[tuple[LongTermMemory, str, Scope, str]] = [
        (shop, "port 1", "project", "saved"),
        (shop, "port 1", "project", "known"),
        (blog, "port 1", "project", "saved"),
        (blog, "use pnpm", "global", "saved"),
        (shop, "use pnpm", "project", "known"),
    ]
    for where, content, scope, state in wanted:
        assert where.save(content, scope=scope, type="fact", key=None, source=Source("user")).state == state
    assert [fact.content for fact in shop.visible()] == ["port 1", "use pnpm"]


def test_what_was_forgotten_comes_back_as_it_was(place: Place) -> None:
    clock = Days()
    for content in ("one", "two", "three"):
        memory(place, "shop", clock).save(content, scope="project", type="rule", key=content, source=Source("user"))
    before = place.open().load()
    two, one = before[1], before[0]
    assert memory(place, "shop", clock).forget(two.id) == two
    assert memory(place, "shop", clock).forget(one.id[:7]) == one
    assert [fact.content for fact in memory(place, "shop", clock).visible()] == ["three"]
    assert [fact.content for fact in memory(place, "shop", clock).forgotten()] == ["one", "two"]
    assert memory(place, "shop", clock).undo().fact == one
    assert memory(place, "shop", clock).undo(two.id).fact == two
    assert place.open().load() == before
    for fact in reversed(before):
        undone = memory(place, "shop", clock).undo()
        assert (undone.was, undone.fact) == (fact, replace(fact, forgotten=fact.created))
    with pytest.raises(StoreError):
        memory(place, "shop", clock).undo()
    for fact in before:
        memory(place, "shop", clock).undo(fact.id)
    assert place.open().load() == before


def test_the_two_makes_keep_files_of_their_own(tmp_path: Path) -> None:
    given = tmp_path / "memory" / "long_term_memory.json"
    one, other = KINDS["json_file"].open(given), KINDS["sqlite"].open(given)
    one.update(lambda facts: [PNPM])
    other.update(lambda facts: [DATABASE])
    assert (type(one), type(other)) == (JsonFile, SqliteFile)
    assert (one.load(), other.load()) == ((PNPM,), (DATABASE,))
    assert (one.path.name, other.path.name) == ("long_term_memory.json", "long_term_memory.db")
