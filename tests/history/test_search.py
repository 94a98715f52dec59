"""What was said is found again: by words of any language and by id, whatever happens to the index."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeagent.core.entries import Entry
from codeagent.core.errors import SessionNotFound, UsageError
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.core.past import Scope
from codeagent.core.paths import Home
from codeagent.history.archive import SessionArchive
from codeagent.history.history import History
from codeagent.history.index import HistoryIndex
from codeagent.history.past import SessionPast
from codeagent.history.pieces import OVERLAP, PIECE, cut
from codeagent.history.search import Place, search
from codeagent.history.sessions import fork_session, new_session, open_session
from codeagent.text.secrets import mask_secrets
from codeagent.text.segment import Segmenter
from tests.history.support import INFO, NOON, answer, ask, begin, masks, reply, say, session_path, summary

SAID = {
    "never": "Never touch vendor/, and 不要改动第三方代码。",
    "path": "The fault is in src/agent/memory_manager.py, line 42.",
    "error": "AttributeError: 'NoneType' object has no attribute 'strip'",
    "name": "test_retry_after_is_honoured fails since getUserName was renamed",
    "memory": "我们的长期记忆放在 SQLite 里，用 jieba 分词。",
    "number": "The port is 48613, the timeout 1.5 s.",
    "other": "Something about everything and nothing in particular.",
}


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    return Segmenter(tmp_path_factory.mktemp("cache"), patient=True).words


Look = Callable[..., SessionPast]


@pytest.fixture
def past(tmp_path: Path, words: Callable[[str], list[str]]) -> Look:
    """The past as a session sees it, by default one that none of the messages is in the context of."""

    def look(id: str = "s1", entries: Callable[[], list[Entry]] = list) -> SessionPast:
        path = session_path(tmp_path, id)
        return SessionPast(
            Home(tmp_path), INFO.project_id, words, mask_secrets, path, entries=entries, clock=lambda: NOON + 90
        )

    return look


async def ids(past: SessionPast, query: str, scope: Scope = "session") -> list[str]:
    return [hit.id for hit in (await past.search(query, scope)).hits]


def another(folder: Path, id: str, project: str = INFO.project_id) -> History:
    """A second session in its own file."""
    return new_session(folder / "history" / project / f"{id}.jsonl", INFO)


@pytest.mark.parametrize(
    ("query", "which"),
    [
        ("vendor/", "never"),
        ("第三方", "never"),
        ("代码", "never"),
        ("src/agent/memory_manager.py", "path"),
        ("memory_manager.py", "path"),
        ("memory manager", "path"),
        ("'NoneType' object has no attribute 'strip'", "error"),
        ("test_retry_after_is_honoured", "name"),
        ("user name", "name"),
        ("记忆", "memory"),
        ("sqlite 分词", "memory"),
        ("ＳＱＬｉｔｅ", "memory"),
        ("48613", "number"),
    ],
)
async def test_words_of_all_kinds_are_found(tmp_path: Path, past: Look, query: str, which: str) -> None:
    history = begin(tmp_path)
    said = {name: say(history, text).id for name, text in SAID.items()}
    found = await past().search(query)
    assert (found.hits[0].id, SAID[which]) == (said[which], found.hits[0].snippet)


async def test_a_hit_tells_where_and_when(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "look at a.py")
    history.append(AssistantMessage("", (ToolCall("c1", "shell", '{"command": "cat \\u6587.py"}'),)), origin="model")
    history.append(ToolMessage("c1", "shell", "x = 1\n" * 300 + "needle = 2\n" + "y = 3\n" * 300), origin="tool")
    called, returned = (await past().search("文.py")).hits[0], (await past().search("needle")).hits[0]
    assert (called.id, called.turn, called.role, called.snippet) == ("m2", 1, "assistant", "→ shell command: cat 文.py")
    assert (returned.id, returned.session, returned.message, returned.role) == ("m3", "s1", "m3", "shell")
    assert returned.snippet.startswith("…x = 1\n") and "\nneedle = 2\n" in returned.snippet
    assert (returned.at, returned.age) == (NOON, 90.0)


async def test_nothing_is_found_where_nothing_is(tmp_path: Path, past: Look) -> None:
    empty = await past().search("anything", "all")
    assert (empty.hits, empty.total, empty.held, empty.behind) == ((), 0, 0, 0)
    say(begin(tmp_path), "one thing")
    for query in ("", "  ", "的", '"', "AND OR NOT *", "nowhere", "x" * 5000, "\ud800"):
        assert (await past().search(query)).hits == ()


async def test_hits_are_paged(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    all_ids = [say(history, f"needle {number}").id for number in range(25)]
    pages = [await past().search("needle", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [len(page.hits) for page in pages] == [10, 10, 5, 0]
    assert {page.total for page in pages} == {25}
    assert sorted(hit.id for page in pages for hit in page.hits) == sorted(all_ids)


async def test_meaning_ranks_what_words_have_found(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    for text in ("the port of the printer", "the port that the database listens on", "as it stands: which port"):
        say(history, text)
    look, asked = past(), list[tuple[str, Sequence[str]]]()

    async def near(query: str, passages: Sequence[str]) -> list[float] | None:
        asked.append((query, passages))
        return [0.4 if "database" in text else 0.0 for text in passages]

    async def best(query: str) -> str:
        return (await ids(look, query))[0]

    async def away(query: str, passages: Sequence[str]) -> None:
        return None

    assert [await best("port listens"), await best("port printer")] == ["m2", "m1"]
    look.near = near
    assert [await best("which port"), await best("the port"), await best("port printer")] == ["m3", "m2", "m1"]
    assert (asked[2][0], sorted(asked[2][1])) == ("port printer", sorted(entry.said or "" for entry in history.entries))
    look.near = away
    assert await best("port printer") == "m1"
    for number in range(60):
        say(history, f"port {number}")
    look.near, asked[:] = near, []
    assert len((await look.search("port", limit=100)).hits) == 63
    assert [len(passages) for _, passages in asked] == [12]


async def test_a_session_is_found_while_it_is_written(tmp_path: Path, past: Look) -> None:
    history, look = begin(tmp_path), past()
    say(history, "first needle")
    assert await ids(look, "needle") == ["m1"]
    say(history, "second needle")
    assert sorted(await ids(look, "needle")) == ["m1", "m2"]
    path = session_path(tmp_path)
    whole = path.read_bytes()
    torn = whole.splitlines(keepends=True)[-1].replace(b'"m2"', b'"m3"').replace(b"second", b"third")
    path.write_bytes(whole + torn[:-1])
    assert sorted(await ids(look, "needle")) == ["m1", "m2"]
    path.write_bytes(whole + torn)
    assert sorted(await ids(look, "needle")) == ["m1", "m2", "m3"]


async def test_damaged_and_newer_lines_are_passed_over(tmp_path: Path, past: Look) -> None:
    say(begin(tmp_path), "first needle")
    path = session_path(tmp_path)
    line = path.read_bytes().splitlines(keepends=True)[-1]
    rubbish = [b"\n", b"{\n", b"\xff\xfe\n", line.replace(b'"v":1', b'"v":9'), line.replace(b'"turn":1', b'"turn":"x"')]
    path.write_bytes(path.read_bytes() + b"".join(rubbish) + line.replace(b'"m1"', b'"m2"').replace(b"first", b"2nd"))
    assert sorted(await ids(past(), "needle")) == ["m1", "m2"]


# ---- scopes --------------------------------------------------------------------------------------------------------


async def test_each_scope_reaches_as_far_as_it_says(tmp_path: Path, past: Look) -> None:
    say(begin(tmp_path), "needle here")
    say(another(tmp_path, "s2"), "needle in a session beside")
    say(another(tmp_path, "s3", "other-0123456789ab"), "needle in another project")
    assert await ids(past(), "needle") == ["m1"]
    assert set(await ids(past(), "needle", "project")) == {"m1", "s2/m1"}
    assert set(await ids(past(), "needle", "all")) == {"m1", "s2/m1", "s3/m1"}
    assert (await past().read("s2/m1")).text.endswith("needle in a session beside")
    assert (await past().read("s3/m1")).text.endswith("needle in another project")
    with pytest.raises(SessionNotFound):
        await past().read("gone/m1")


async def test_copies_of_a_session_are_found_once(tmp_path: Path, past: Look) -> None:
    say(begin(tmp_path), "needle")
    await fork_session(session_path(tmp_path), session_path(tmp_path, "s2"), INFO)
    assert len(await ids(past(), "needle", "project")) == 1


async def test_what_is_removed_is_forgotten(tmp_path: Path, past: Look) -> None:
    say(begin(tmp_path), "needle stays")
    say(another(tmp_path, "s2"), "needle goes")
    assert len(await ids(past(), "needle", "project")) == 2
    session_path(tmp_path, "s2").unlink()
    assert await ids(past(), "needle", "project") == ["m1"]
    assert "goes" not in vocabulary(tmp_path) and "stay" in vocabulary(tmp_path)


async def test_another_session_in_the_place_of_one_begins_anew(tmp_path: Path, past: Look) -> None:
    say(begin(tmp_path), "old needle")
    assert await ids(past(), "needle") == ["m1"]
    session_path(tmp_path).unlink()
    session_path(tmp_path).with_suffix(".lock").unlink()
    history = begin(tmp_path)
    for text in ("something else", "new needle", "and a third message, so that the file is longer than before"):
        say(history, text)
    assert await ids(past(), "needle") == ["m2"]
    assert "old" not in vocabulary(tmp_path)


def vocabulary(folder: Path) -> set[str]:
    with sqlite3.connect(folder / "history" / "index.db") as db:
        return {term for (term,) in db.execute("SELECT term FROM known WHERE col = 'body'")}


# ---- what left the context -----------------------------------------------------------------------------------------


async def test_what_a_compaction_took_out_is_found_and_read(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    head = [say(history, "Never touch vendor/."), reply(history, "I never touch vendor/.")]
    say(history, "what about vendor/?")
    look = past(entries=lambda: list(history.entries))
    before = await look.search("vendor/")
    assert (before.hits, before.held) == ((), 3)
    history.fold(summary(head, "Nothing much."))
    after = await look.search("vendor/")
    assert ({hit.id for hit in after.hits}, after.held) == ({"m1", "m2"}, 1)
    assert (await look.read("m1")).text.endswith("\nNever touch vendor/.")
    left = (await look.read("c1")).text
    assert [line for line in left.splitlines() if not line.startswith("[")] == [
        "Never touch vendor/.",
        "",
        "I never touch vendor/.",
    ]
    assert "m1-m2" in (await look.read("m4")).text and "Nothing much." in (await look.read("m4")).text


async def test_masked_results_are_found_whole(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "read it")
    ask(history, "c1")
    result = answer(history, "c1", "line one\nsecret of the needle\nline three")
    look = past(entries=lambda: list(history.entries))
    assert await ids(look, "needle") == []
    history.fold(masks([result]))
    assert await ids(look, "needle") == ["m3"]
    assert (await look.read("m3")).text.endswith("line one\nsecret of the needle\nline three")


async def test_archived_results_are_found_and_read_whole(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "run it")
    ask(history, "call.1")
    whole = "".join(f"line {number}\n" for number in range(5000)) + "needle at the end"
    name = SessionArchive(history.path).put("call.1", whole)
    history.append(ToolMessage("call.1", "shell", "line 0\n[…]"), origin="tool", archive=name)
    look = past()
    (hit,) = (await look.search("needle")).hits
    assert (hit.id, hit.snippet.splitlines()[-1]) == ("m3", "needle at the end")
    for id in (name, name.removesuffix(".txt")):
        pages = [(await look.read(id, offset=offset, limit=30_000)).text for offset in (0, 30_000)]
        assert "".join(pages) == whole
    end = await look.read("m3", offset=len(whole) - 100)
    assert (end.text[-17:], end.start, end.end) == ("needle at the end", len(whole) - 100, end.total)


async def test_of_a_huge_archived_result_both_ends_are_found_and_read(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "run it")
    ask(history, "c7")
    whole = "first needle\n" + "中文 line\n" * 1_000_000 + "last needle"
    name = SessionArchive(history.path).put("c7", whole)
    history.append(ToolMessage("c7", "shell", "[…]"), origin="tool", archive=name)
    assert await ids(past(), "first needle") == await ids(past(), "last needle") == ["m3"]
    page = await past().read("c7")
    end = await past().read("c7", offset=page.total - 100)
    assert (page.text[:12], end.text[-11:]) == ("first needle", "last needle")
    assert page.total < len(whole)


async def test_what_came_beside_the_words_is_read_and_not_searched(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    text = "[The user ran a command]\n$ make\nneedle\n\nExplain?\n\npiped needle"
    history.append(UserMessage(text), origin="user", said="Explain?", new_turn=True)
    history.fold(summary(history.entries, "Nothing."))
    assert (await ids(past(), "needle"), await ids(past(), "explain")) == ([], ["m1"])
    assert (await past().read("m1")).text.partition("\n")[2] == text


async def test_results_of_recall_itself_are_not_found(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "the needle")
    history.append(AssistantMessage("", (ToolCall("c1", "recall", '{"query": "x"}'),)), origin="model")
    history.append(ToolMessage("c1", "recall", "m1: the needle"), origin="tool")
    assert await ids(past(), "needle") == ["m1"]


async def test_a_turn_and_a_run_of_messages_are_read(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    say(history, "one")
    reply(history, "ONE")
    say(history, "two")
    reply(history, "TWO")

    async def read(id: str) -> list[str]:
        return [line for line in (await past().read(id)).text.splitlines() if line and not line.startswith("[")]

    assert await read("t2") == await read("turn 2") == await read("m3-m4") == ["two", "TWO"]
    assert await read("m2 – m3") == ["ONE", "two"]
    assert await read("s1/m4") == ["TWO"]


@pytest.mark.parametrize("id", ["m9", "t9", "c9", "m2-m1", "x", "", "../s1.jsonl", "s1.jsonl", ".", "a\0b"])
async def test_an_id_of_nothing_is_refused(tmp_path: Path, past: Look, id: str) -> None:
    say(begin(tmp_path), "one")
    with pytest.raises((UsageError, SessionNotFound)):
        await past().read(id)


# ---- secrets -------------------------------------------------------------------------------------------------------


async def test_secrets_are_masked_in_hits_pages_and_the_index(tmp_path: Path, past: Look) -> None:
    history, token = begin(tmp_path), "ghp_" + "a1B2c3D4e5" * 3
    say(history, f"my needle token is {token}, 密码是 Hunter2!")
    (hit,) = (await past().search("needle")).hits
    assert hit.snippet == "my needle token is [secret], 密码是 [secret]"
    assert (await past().read("m1")).text.endswith(f"\n{hit.snippet}")
    assert [await ids(past(), secret) for secret in (token, "Hunter2")] == [[], []]
    assert not {token.lower(), "hunter2"} & vocabulary(tmp_path)


# ---- the index is derived ------------------------------------------------------------------------------------------


def _gone(path: Path) -> None:
    path.unlink()


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def _torn(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE pieces")


async def test_nothing_is_written_to_the_index_once_the_session_is_closed(tmp_path: Path, past: Look) -> None:
    history, look = begin(tmp_path), past()
    history.observers = (look,)
    say(history, "needle " + "long words " * 400_000)  # more than one transaction takes in
    reply(history, "Yes.")
    await look.aclose()
    left = index_bytes(tmp_path)
    reply(history, "Too late.")
    await asyncio.sleep(0.3)
    assert index_bytes(tmp_path) == left
    assert await ids(past(), "needle") == ["m1"]


def index_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "history").glob("index.db*")}


@pytest.mark.parametrize("harm", [_gone, _garbage, _torn, _newer, _foreign])
async def test_the_index_comes_back(tmp_path: Path, past: Look, harm: Callable[[Path], None]) -> None:
    history = begin(tmp_path)
    for text in SAID.values():
        say(history, text)
    before = await ids(past(), "vendor/ 记忆 48613")
    path = tmp_path / "history" / "index.db"
    assert (len(before), path.stat().st_mode & 0o777) == (3, 0o600)
    harm(path)
    assert await ids(past(), "vendor/ 记忆 48613") == before


TEXTS = st.lists(st.sampled_from(["needle 记忆", "needle", "记忆", "x" * 3000 + " needle", "hay"]), max_size=8)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(TEXTS, min_size=1, max_size=4))
def test_following_finds_what_indexing_anew_finds(steps: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = begin(Path(folder))
        place = Place(file=history.path)
        followed, anew = HistoryIndex(Path(folder) / "history", str), HistoryIndex(Path(folder), str)
        for texts in steps:
            for text in texts:
                say(history, text)
            followed.update([history.path])
        for query in ("needle", "记忆"):
            assert search(followed, list, query, place, []) == search(anew, list, query, place, [history.path])
        history.close()


@given(st.lists(st.integers(1, OVERLAP), min_size=1, max_size=80))
def test_every_line_is_whole_in_one_piece(lengths: list[int]) -> None:
    lines = [f"{number} ".ljust(length, "中") for number, length in enumerate(lengths)]
    pieces = list(cut("\n".join(lines)))
    assert max(map(len, pieces)) <= PIECE
    assert "".join(pieces) == "\n".join(lines)


def test_pieces_of_one_long_line_overlap() -> None:
    text = "".join(f"<{number}>" for number in range(3000))
    pieces = list(cut(text))
    assert all(before[-OVERLAP:] == after[:OVERLAP] for before, after in pairwise(pieces))
    assert pieces[0] + "".join(piece[OVERLAP:] for piece in pieces[1:]) == text


# ---- processes -----------------------------------------------------------------------------------------------------

INDEX = """
import sys
from itertools import pairwise
from pathlib import Path
from codeagent.history.index import HistoryIndex
folder = Path(sys.argv[1])
print("ready", flush=True)
HistoryIndex(folder, str).update(sorted(folder.glob("*/*.jsonl")))
"""


def many(folder: Path, sessions: int = 4, messages: int = 150) -> list[Path]:
    """Sessions that take several transactions to index."""
    paths = []
    for number in range(sessions):
        history = another(folder, f"s{number}")
        for count in range(messages):
            text = f"needle{number}x{count} " + " ".join(f"word{count * place % 997}" for place in range(700))
            history.append(UserMessage(text), origin="user", said=text, new_turn=True)
        history.close()
        paths.append(history.path)
    return paths


def indexing(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(folder / "history")], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def counted(folder: Path) -> tuple[int, int]:
    """(pieces, messages) in the index."""
    with sqlite3.connect(folder / "history" / "index.db") as db:
        return db.execute("SELECT count(*), count(DISTINCT file || ' ' || message) FROM pieces").fetchone()


def test_a_kill_at_any_moment_leaves_a_sound_index(tmp_path: Path) -> None:
    paths = many(tmp_path, 2)
    for delay in (0.0, 0.05, 0.3, 0.6):
        process = indexing(tmp_path)
        time.sleep(delay)
        process.kill()
        process.communicate()
    index = HistoryIndex(tmp_path / "history", str)
    assert index.update(paths) == 0
    pieces, messages = counted(tmp_path)
    assert (messages, sqlite3.connect(index.path).execute("PRAGMA integrity_check").fetchone()) == (300, ("ok",))
    (tmp_path / "history" / "index.db").unlink()
    index.update(paths)
    assert counted(tmp_path) == (pieces, messages)


def test_two_processes_take_in_everything_once(tmp_path: Path) -> None:
    paths = many(tmp_path, 2)
    both = [indexing(tmp_path), indexing(tmp_path)]
    assert [(process.communicate()[0], process.returncode) for process in both] == [("", 0), ("", 0)]
    pieces, messages = counted(tmp_path)
    assert messages == 300
    (tmp_path / "history" / "index.db").unlink()
    assert HistoryIndex(tmp_path / "history", str).update(paths) == 0
    assert counted(tmp_path) == (pieces, messages)


def test_what_is_not_taken_in_yet_is_told_and_taken_in_later(tmp_path: Path) -> None:
    (path,) = many(tmp_path, 1)
    index = HistoryIndex(tmp_path / "history", str)
    looks = iter([False, True])
    assert 0 < index.update([path], lambda: next(looks)) < path.stat().st_size
    assert index.update([path]) == 0
    assert counted(tmp_path)[1] == 150


async def test_a_turn_that_ends_is_taken_in_behind_it(tmp_path: Path, past: Look) -> None:
    history, look = begin(tmp_path), past()
    history.observers = (look,)
    say(history, "needle")
    assert not (tmp_path / "history" / "index.db").exists()
    reply(history, "found")
    deadline = time.monotonic() + 20
    while not (tmp_path / "history" / "index.db").exists() or counted_or_none(tmp_path) != (2, 2):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    history.close()


def counted_or_none(folder: Path) -> tuple[int, int] | None:
    try:
        return counted(folder)
    except sqlite3.Error:
        return None


async def test_ids_hold_after_resume(tmp_path: Path, past: Look) -> None:
    history = begin(tmp_path)
    head = [say(history, "needle"), reply(history, "yes")]
    say(history, "go on")
    reply(history, "going on")
    history.fold(summary(head, "Short."))
    history.close()
    again = await open_session(session_path(tmp_path))
    look = past(entries=lambda: list(again.entries))
    assert await ids(look, "needle") == ["m1"]
    assert json.loads(json.dumps((await look.read("m1")).text)).endswith("\nneedle")
    again.close()
