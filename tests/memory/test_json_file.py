"""The JSON file of facts: readable, locked, never lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeagent.memory.backends.json_file import JsonFile
from codeagent.memory.document import Document, to_bytes
from codeagent.memory.entry import Fact, Source, fact_from_json, fact_to_json

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "long_term_memory.json"


def _ids(path: Path) -> list[str]:
    return [fact.id for fact in JsonFile(path).load()]


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


def test_the_backup_is_a_file_of_its_own_also_after_a_kill(path: Path) -> None:
    """What is killed between the backup and the file leaves one file under two or three names."""
    store = JsonFile(path)
    store.update(lambda facts: [DATABASE])
    before = path.read_bytes()
    for name in (".bak", ".bak.new"):
        path.with_name(path.name + name).hardlink_to(path)
    JsonFile(path).update(lambda facts: [*facts, PNPM])
    assert {file.name: file.stat().st_nlink for file in path.parent.iterdir()} == {
        path.name + ending: 1 for ending in ("", ".bak", ".lock")
    }
    assert (path.with_name(path.name + ".bak").read_bytes(), _ids(path)) == (before, ["a1", "b2"])


def test_forgotten_facts_stand_apart_and_keep_their_place(path: Path) -> None:
    """Another program that reads `entries` sees no fact that was forgotten."""
    gone = replace(DATABASE, forgotten="2026-03-01T00:00:00.000001Z")
    JsonFile(path).update(lambda facts: [gone, PNPM])
    form = json.loads(path.read_text(encoding="utf-8"))
    assert [entry["id"] for entry in form["entries"]] == ["b2"]
    assert form["forgotten"] == [{**fact_to_json(gone), "place": 0}]
    assert JsonFile(path).load() == (gone, PNPM)


@pytest.mark.parametrize("forgotten", [5, {}, ["x"], [{"content": "no time"}], [{"forgotten": "2026-01-01"}]])
def test_what_else_is_called_forgotten_is_kept(path: Path, forgotten: object) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "forgotten": forgotten, "entries": []}), encoding="utf-8")
    JsonFile(path).update(lambda facts: [PNPM])
    assert json.loads(path.read_text(encoding="utf-8"))["forgotten"] == forgotten


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


TEXTS = st.text(max_size=6)
SOURCES = st.builds(Source, TEXTS, TEXTS, st.integers(), TEXTS, st.dictionaries(TEXTS, st.integers(), max_size=1))
FACTS = st.builds(
    Fact,
    TEXTS,
    TEXTS,
    project=st.none() | TEXTS,
    key=st.none() | TEXTS,
    source=SOURCES,
    versions=st.just(()) | st.just(({"content": "old", "source": {}},)),
    expires=st.none() | TEXTS,
    forgotten=st.none() | TEXTS,
)


@given(
    st.builds(
        Document,
        st.lists(FACTS, max_size=3).map(tuple),
        st.lists(st.sampled_from([5, {"a": [1]}, "x\ny"]), max_size=2).map(tuple),
        st.dictionaries(st.sampled_from(["note", "更多"]), st.sampled_from([[], {"a": {"b": 1}}, "x"])),
    )
)
def test_it_is_written_as_json_with_an_indent(document: Document) -> None:
    written = to_bytes(document)
    form = json.loads(written)
    assert written == json.dumps(form, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
    kept = [fact_to_json(fact) for fact in document.facts if fact.forgotten is None]
    assert form["entries"] == json.loads(json.dumps([*kept, *document.others]))
