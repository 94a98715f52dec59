"""The JSON file of facts: readable, locked, never lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import StoreError
from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.entry import Fact, Source, fact_from_json

DATABASE = Fact(
    "a1",
    "数据库端口是 5433",
    "fact",
    "project",
    "shop-0123456789ab",
    "db-port",
    "2026-01-02T03:04:05Z",
    "2026-02-03T04:05:06Z",
    Source("tool", "20260102-030405-abcdef", 3, "记一下，数据库端口是 5433"),
    ({"content": "数据库端口是 5432", "updated": "2026-01-02T03:04:05Z", "source": {"by": "user"}},),
)
PNPM = Fact(
    "b2", "Use pnpm, not npm.", "rule", "global", created="2026-01-01T00:00:00Z", updated="2026-01-01T00:00:00Z"
)

ADDER = """
import sys
from pathlib import Path
from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.entry import Fact
path, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = JsonFile(path)
for number in range(count):
    fact = Fact(f"{who}-{number}", f"fact {number} of {who}")
    store.update(lambda facts: [*facts, fact])
    print(fact.id, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "long_term_memory.json"


def _adder(path: Path, who: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ADDER, str(path), who, str(count)], stdout=subprocess.PIPE, text=True
    )


def _ids(path: Path) -> list[str]:
    return [fact.id for fact in JsonFile(path).load()]


def test_facts_come_back_as_they_went(path: Path) -> None:
    JsonFile(path).update(lambda facts: [DATABASE, PNPM])
    again = JsonFile(path)
    assert (again.load(), again.notices()) == ((DATABASE, PNPM), ())


def test_the_file_is_private_and_a_person_can_read_it(path: Path) -> None:
    JsonFile(path).update(lambda facts: [DATABASE])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.read_text(encoding="utf-8") == (
        """{
  "version": 1,
  "entries": [
    {
      "id": "a1",
      "type": "fact",
      "scope": "project",
      "project": "shop-0123456789ab",
      "key": "db-port",
      "content": "数据库端口是 5433",
      "created": "2026-01-02T03:04:05Z",
      "updated": "2026-02-03T04:05:06Z",
      "source": {
        "by": "tool",
        "session": "20260102-030405-abcdef",
        "turn": 3,
        "quote": "记一下，数据库端口是 5433"
      },
      "versions": [
        {
          "content": "数据库端口是 5432",
          "updated": "2026-01-02T03:04:05Z",
          "source": {
            "by": "user"
          }
        }
      ]
    }
  ]
}
"""
    )


def test_what_it_does_not_know_is_kept(path: Path) -> None:
    form: dict[str, Any] = {
        "version": 1,
        "written_by": "another program",
        "entries": [
            {"id": "a", "content": "one", "mood": "good", "source": {"by": "user", "device": "laptop"}},
            "no entry at all",
            {"id": "c", "note": "no content"},
        ],
    }
    path.parent.mkdir()
    path.write_text(json.dumps(form), encoding="utf-8")
    JsonFile(path).update(lambda facts: [*facts, PNPM])
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after["written_by"] == "another program"
    assert (after["entries"][0]["mood"], after["entries"][0]["source"]["device"]) == ("good", "laptop")
    assert after["entries"][2:] == form["entries"][1:]
    assert _ids(path) == ["a", "b2"]


def test_a_bare_list_with_timestamps_is_read(path: Path) -> None:
    path.parent.mkdir()
    old = [
        {"id": 7, "content": "以后用 pnpm", "timestamp": 1767323045},
        {"content": "Tests run with make test.", "timestamp": "2026-01-02T11:04:05+08:00", "project": "shop"},
        {"id": "z", "content": "No time is known.", "timestamp": "yesterday"},
    ]
    path.write_text("\ufeff" + json.dumps(old), encoding="utf-8")
    moment = "2026-01-02T03:04:05Z"
    facts = JsonFile(path).load()
    assert [(fact.id, fact.content, fact.scope, fact.project, fact.created, fact.updated) for fact in facts] == [
        ("7", "以后用 pnpm", "global", None, moment, moment),
        (facts[1].id, "Tests run with make test.", "project", "shop", moment, moment),
        ("z", "No time is known.", "global", None, "", ""),
    ]


def test_the_file_before_a_change_stays_as_backup(path: Path) -> None:
    store = JsonFile(path)
    store.update(lambda facts: [DATABASE])
    before = path.read_bytes()
    store.update(lambda facts: [*facts, PNPM])
    assert path.with_name("long_term_memory.json.bak").read_bytes() == before


def test_a_change_that_changes_nothing_writes_nothing(path: Path) -> None:
    store = JsonFile(path)
    store.update(lambda facts: [DATABASE])
    before = path.stat().st_ino
    store.update(lambda facts: list(facts))
    assert path.stat().st_ino == before


def test_what_another_process_wrote_is_seen(path: Path) -> None:
    reader = JsonFile(path)
    assert reader.load() == ()
    JsonFile(path).update(lambda facts: [PNPM])
    assert reader.load() == (PNPM,)


@pytest.mark.parametrize(
    "damage", [b"", b'{"version": 1, "entr', b"[" * 100_000, b"\xff\xfe\x00", b'{"version": 1}', b"42", b"null\x00"]
)
@pytest.mark.parametrize("first", ["load", "update"])
def test_a_damaged_file_is_set_aside_and_its_backup_used(path: Path, damage: bytes, first: str) -> None:
    store = JsonFile(path)
    store.update(lambda facts: [DATABASE])
    store.update(lambda facts: [*facts, PNPM])
    path.write_bytes(damage)
    again = JsonFile(path)
    if first == "update":
        again.update(lambda facts: list(facts))
    assert again.load() == (DATABASE,)
    aside = path.with_name("long_term_memory.json.damaged-1")
    assert aside.read_bytes() == damage
    assert [notice.arguments for notice in again.notices()] == [{"aside": str(aside), "count": 1}]
    assert again.notices() == ()
    quiet = JsonFile(path)
    assert (quiet.load(), quiet.notices()) == ((DATABASE,), ())


def test_a_second_damaged_file_does_not_overwrite_the_first(path: Path) -> None:
    path.parent.mkdir()
    for damage in (b"first", b"second"):
        path.write_bytes(damage)
        assert JsonFile(path).load() == ()
    assert sorted(file.name for file in path.parent.glob("*.damaged-*")) == [
        "long_term_memory.json.damaged-1",
        "long_term_memory.json.damaged-2",
    ]


def test_a_newer_file_is_neither_read_nor_touched(path: Path) -> None:
    path.parent.mkdir()
    newer = b'{"version": 2, "entries": [], "layout": "new"}'
    path.write_bytes(newer)
    store = JsonFile(path)
    assert (store.load(), len(store.notices())) == ((), 1)
    with pytest.raises(StoreError):
        store.update(lambda facts: [PNPM])
    assert path.read_bytes() == newer


def test_where_nothing_can_be_written_the_error_has_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file where the folder should be")
    store = JsonFile(tmp_path / "memory" / "long_term_memory.json")
    with pytest.raises(StoreError, match="cannot be written"):
        store.update(lambda facts: [PNPM])
    assert store.load() == ()


def test_a_linked_file_stays_a_link(tmp_path: Path, path: Path) -> None:
    real = tmp_path / "dotfiles" / "facts.json"
    real.parent.mkdir()
    path.parent.mkdir()
    path.symlink_to(real)
    JsonFile(path).update(lambda facts: [PNPM])
    assert path.is_symlink()
    assert JsonFile(real).load() == (PNPM,)


def test_processes_at_once_all_keep_their_facts(path: Path) -> None:
    writers = [_adder(path, f"w{number}", 50) for number in range(8)]
    for writer in writers:
        writer.communicate()
    assert sorted(_ids(path)) == sorted(f"w{number}-{fact}" for number in range(8) for fact in range(50))


def test_a_killed_writer_loses_nothing_that_was_acknowledged(path: Path) -> None:
    killed, other = _adder(path, "killed", 10_000), _adder(path, "other", 30)
    assert killed.stdout is not None
    acknowledged = [killed.stdout.readline().strip() for _ in range(20)]
    killed.send_signal(signal.SIGKILL)
    acknowledged += killed.stdout.read().split()
    other_ids = other.communicate()[0].split()
    killed.wait()
    store = JsonFile(path)
    stored = {fact.id for fact in store.load()}
    assert store.notices() == ()
    assert set(acknowledged) <= stored
    assert {f"other-{number}" for number in range(30)} == set(other_ids) <= stored
    store.update(lambda facts: [*facts, PNPM])
    assert "b2" in _ids(path)


@pytest.mark.parametrize("form", [None, 5, [], {}, {"content": ""}, {"content": 5}, {"content": "  "}])
def test_what_has_no_content_is_no_fact(form: object) -> None:
    assert fact_from_json(form) is None


@pytest.mark.parametrize("value", [None, 5, -1e300, [], {}, True, "2026-99-99", "\x00"])
def test_fields_of_a_wrong_type_do_no_harm(value: object) -> None:
    names = (
        "id",
        "type",
        "scope",
        "project",
        "key",
        "created",
        "updated",
        "expires",
        "source",
        "versions",
        "timestamp",
    )
    fact = fact_from_json({"content": "kept", **dict.fromkeys(names, value)})
    assert fact is not None
    assert fact.content == "kept"
