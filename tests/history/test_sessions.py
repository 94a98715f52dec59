"""Finding, listing, forking and removing sessions; their archived outputs."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from codeagent.core.errors import SessionBusy, SessionError, SessionNotFound, StoreError, UsageError
from codeagent.core.paths import Home
from codeagent.history.archive import SessionArchive
from codeagent.history.catalog import Catalog, Found, checked_id, look, new_session_id, valid_id
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import fork_session, new_session, open_session
from tests.history.support import PROMPT, answer, ask, begin, lines, reply, say, summary

PROJECT = "demo-0123456789ab"


def make(
    home: Home, id: str, said: str = "hello", *, project: str = PROJECT, cwd: str = "/src/demo", at: int = 0
) -> History:
    """A session of one question, closed, last changed at second `at`."""
    path = Catalog(home).path(project, id)
    history = new_session(path, SessionInfo(id, project, cwd, "gpt-x", "0.1.0"))
    history.set_prompt(PROMPT, "start")
    say(history, said)
    history.close()
    os.utime(path, (at, at))
    return history


def ids(found: list[Found]) -> list[str]:
    return [one.id for one in found]


def test_a_listing_tells_what_a_picker_shows_newest_first(tmp_path: Path) -> None:
    home = Home(tmp_path)
    make(home, "a", "the oldest", at=10)
    make(home, "b", "修复  解析器\nin the parser", at=30)
    make(home, "c", project="other-000000000000", at=40)
    path = Catalog(home).path(PROJECT, "b")
    assert Catalog(home).sessions(PROJECT)[0] == Found(
        id="b",
        path=path,
        project_id=PROJECT,
        modified=30.0,
        size=path.stat().st_size,
        name=None,
        first="修复 解析器 in the parser",
        cwd="/src/demo",
        parent=None,
        model="gpt-x",
    )
    assert ids(Catalog(home).sessions(PROJECT)) == ["b", "a"]
    assert Catalog(home).sessions("nothing-here") == []


async def test_the_newest_name_is_found_at_either_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    history = await open_session(make(home, "a").path)
    history.rename("first name")
    reply(history, "x" * 200_000)
    history.rename("second name")
    history.close()
    found = look(history.path)
    assert found is not None
    assert (found.name, found.first) == ("second name", "hello")


def test_the_words_of_a_huge_first_message_are_found(tmp_path: Path) -> None:
    found = look(make(Home(tmp_path), "a", 'say "hi" ' + "长" * 200_000).path)
    assert found is not None
    assert (found.first[:12], len(found.first)) == ('say "hi" 长长长', 120)


def test_listing_survives_whatever_lies_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    good = make(home, "good").path
    good.with_name("empty.jsonl").write_bytes(b"")
    good.with_name("garbage.jsonl").write_bytes(os.urandom(100_000))
    good.with_name("folder.jsonl").mkdir()
    good.with_name("dangling.jsonl").symlink_to("nowhere")
    found = {one.id: one.first for one in Catalog(home).sessions(PROJECT)}
    assert found == {"good": "hello", "empty": "", "garbage": ""}


def test_continue_prefers_the_same_folder(tmp_path: Path) -> None:
    home = Home(tmp_path)
    make(home, "here", cwd="/src/demo/sub", at=10)
    make(home, "there", cwd="/src/demo", at=20)
    catalog = Catalog(home)
    newest = [catalog.newest(PROJECT, cwd) for cwd in ("/src/demo/sub", "/src/demo", "/elsewhere")]
    assert [found.id if found else None for found in newest] == ["here", "there", "there"]
    assert catalog.newest("none", "/src/demo") is None


def test_a_session_answers_to_a_beginning_that_is_its_own(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for at, id in enumerate(("20270101-100000-aaaaaa", "20270101-110000-bbbbbb", "20270101-110000-bbbbbb2")):
        make(home, id, at=at)
    make(home, "elsewhere", project="other-000000000000")
    catalog = Catalog(home)
    assert catalog.find(PROJECT, "20270101-10").id == "20270101-100000-aaaaaa"
    assert catalog.find(PROJECT, "20270101-110000-bbbbbb").id == "20270101-110000-bbbbbb"
    assert catalog.find(PROJECT, "elsewhere").project_id == "other-000000000000"
    messages = {}
    for prefix in ("20270101-11", "else", "x", "", "*", "../x"):
        with pytest.raises(SessionNotFound) as refused:
            catalog.find(PROJECT, prefix)
        messages[prefix] = str(refused.value)
    several = "Several sessions start with 20270101-11: 20270101-110000-bbbbbb2, 20270101-110000-bbbbbb."
    assert messages.pop("20270101-11") == several
    assert messages == {prefix: f"No session starts with {prefix}." for prefix in messages}


def test_ids(tmp_path: Path) -> None:
    assert new_session_id(datetime(2027, 1, 5, 9, 3, 7), lambda n: "ab" * n) == "20270105-090307-ababab"
    assert all(valid_id(id) for id in ("a", "A.b_c-9", "9" * 64, new_session_id(datetime.now())))
    hostile = ["", ".", "..", ".a", "-a", "a.", "a/b", "a\\b", "a b", "a\n", "é", "9" * 65, "a.jsonl", "a.lock"]
    assert [id for id in hostile if valid_id(id)] == []
    assert checked_id("mine") == "mine"
    with pytest.raises(UsageError):
        checked_id("../mine")


async def test_a_fork_resumes_equal_and_the_original_stays(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "question")
    ask(history, "a")
    archived = SessionArchive(history.path).put("a", "the whole output")
    answer(history, "a")
    reply(history, "answer")
    history.rename("a name")
    receipt = history.fold(summary(history.entries[:3], "so far"))
    before = history.path.read_bytes()
    target = history.path.with_name("s2.jsonl")
    info = SessionInfo("s2", PROJECT, "/src/demo", "gpt-y", "0.2.0", parent="s1")
    await fork_session(history.path, target, info)
    fork = await open_session(target)
    assert (fork.entries, fork.prompt, fork.name, fork.turn) == (history.entries, PROMPT, "a name", 1)
    assert (fork.session.id, fork.session.parent, fork.session.model, fork.notices) == ("s2", "s1", "gpt-y", ())
    assert (SessionArchive(target).folder / archived).read_text() == "the whole output"
    await fork.undo(receipt.id)
    say(fork, "another way")
    assert history.path.read_bytes() == before
    assert sorted(path.name for path in target.parent.iterdir()) == [
        "s1", "s1.jsonl", "s1.lock", "s2", "s2.jsonl", "s2.lock",
    ]  # fmt: skip
    with pytest.raises(SessionError):
        await fork_session(history.path, target, info)
    with pytest.raises(SessionNotFound):
        await fork_session(target.with_name("s3.jsonl"), target.with_name("s4.jsonl"), info)


async def test_a_fork_leaves_out_a_line_that_is_being_written(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "question")
    with history.path.open("ab") as file:
        file.write(b'{"v":1,')
    target = history.path.with_name("s2.jsonl")
    await fork_session(history.path, target, SessionInfo("s2", PROJECT, "/", "m", "0", parent="s1"))
    assert [line["type"] for line in lines(target)] == ["session", "prompt", "message"]


async def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound) as refused:
        await open_session(tmp_path / "gone.jsonl")
    assert (str(refused.value), list(tmp_path.iterdir())) == ("There is no session gone.", [])


async def test_removing_takes_everything_but_not_from_under_somebody(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = make(home, "a").path
    SessionArchive(path).put("call", "text")
    catalog = Catalog(home)
    found = catalog.find(PROJECT, "a")
    history = await open_session(path)
    with pytest.raises(SessionBusy):
        catalog.remove(found)
    assert path.exists()
    history.close()
    catalog.remove(found)
    assert list(path.parent.iterdir()) == []


def test_an_archive_keeps_every_output_under_a_harmless_name(tmp_path: Path) -> None:
    archive = SessionArchive(tmp_path / "s1.jsonl")
    assert not archive.folder.exists()
    hostile = [
        "call_1",
        "call_1",
        "CALL_1",
        "../../etc/passwd",
        "a/b",
        "a\\b",
        "",
        ".",
        "x" * 500,
        "调用",
        "\ud800",
        "-rf",
    ]
    kept = {archive.put(id, f"{number} 输出\ud800"): number for number, id in enumerate(hostile)}
    assert len(kept) == len(hostile)
    assert list(kept)[:2] == ["call_1.txt", "call_1-2.txt"]
    assert {path.name: path.read_text(encoding="utf-8") for path in archive.folder.iterdir()} == {
        name: f"{number} 输出\ufffd" for name, number in kept.items()
    }
    assert {path.stat().st_mode & 0o777 for path in archive.folder.iterdir()} == {0o600}
    assert (archive.folder.stat().st_mode & 0o777, archive.folder.name) == (0o700, "s1")


def test_an_archive_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "s1").write_text("in the way")
    with pytest.raises(StoreError):
        SessionArchive(tmp_path / "s1.jsonl").put("call", "text")


def test_a_mended_copy_does_not_make_the_original_ambiguous(tmp_path: Path) -> None:
    home, catalog = Home(tmp_path), Catalog(Home(tmp_path))
    for id in ("2026-a", "2026-a-mended", "2026-a-mended-mended"):
        make(home, id)
    assert catalog.find(PROJECT, "2026").id == "2026-a"
    assert catalog.find(PROJECT, "2026-a-mended").id == "2026-a-mended"
    make(home, "2026-b")
    with pytest.raises(SessionNotFound, match="Several sessions start with 2026"):
        catalog.find(PROJECT, "2026")


def test_a_pipe_is_no_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    make(home, "a")
    os.mkfifo(Catalog(home).path(PROJECT, "b"))
    assert ids(Catalog(home).sessions(PROJECT)) == ["a"]
    with pytest.raises(SessionNotFound):
        Catalog(home).find(PROJECT, "b")
