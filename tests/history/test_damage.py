"""Files that were torn, damaged, or written by another version: opened, examined, mended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codeagent.core.errors import SessionError, SessionTooNew
from codeagent.core.messages import ToolMessage, UserMessage
from codeagent.history.history import History
from codeagent.history.repair import Fault, check, write_mended
from codeagent.history.sessions import open_session
from tests.history.support import answer, ask, begin, lines, reply, say, summary, texts


def a_session(folder: Path) -> Path:
    """Lines: session, prompt, m1 question, m2 calls a and b, m3 and m4 results, m5 answer, m6 thanks."""
    history = begin(folder)
    say(history, "question")
    ask(history, "a", "b")
    answer(history, "a", "result a")
    answer(history, "b", "result b")
    reply(history, "answer")
    say(history, "thanks")
    history.close()
    return history.path


def change(path: Path, line: int, by: Callable[[bytes], bytes]) -> None:
    """Rewrite one line, numbered from 1."""
    data = path.read_bytes().splitlines(keepends=True)
    data[line - 1] = by(data[line - 1])
    path.write_bytes(b"".join(data))


def garble(line: bytes) -> bytes:
    return line[:40] + b"\x00\xff" * 10 + b"\n"


def drop(line: bytes) -> bytes:
    return b""


async def opened(path: Path) -> tuple[History, list[str]]:
    history = await open_session(path)
    history.close()
    return history, [str(notice) for notice in history.notices]


REPAIR = "`codeagent sessions repair s1` shows them and writes a mended copy."


async def test_a_torn_last_line_is_cut_off_and_told(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"v":1,"seq":9,"ts":"')
    history, notices = await opened(path)
    assert notices == ["The unfinished last line of the session file was cut off (21 bytes)."]
    assert path.read_bytes() == whole
    assert texts(history.entries) == ["question", "a+b", "result a", "result b", "answer", "thanks"]


async def test_a_last_line_without_its_newline_was_never_acknowledged(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    history, notices = await opened(path)
    assert len(notices) == 1
    assert texts(history.entries)[-1] == "answer"


async def test_a_torn_line_longer_than_any_buffer(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + b"x" * 300_000)
    await opened(path)
    assert path.read_bytes() == whole


async def test_a_file_torn_in_its_first_line_is_begun_anew(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    path.write_bytes(path.read_bytes()[:30])
    history = await open_session(path)
    say(history, "from the start")
    history.close()
    assert [(line["seq"], line["type"]) for line in lines(path)] == [(1, "session"), (2, "message")]
    assert (await opened(path))[1] == []


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (1, ["question", "a+b", "result a", "result b", "answer", "thanks"]),
        (2, ["question", "a+b", "result a", "result b", "answer", "thanks"]),
        (3, ["a+b", "result a", "result b", "answer", "thanks"]),
        (4, ["question", "answer", "thanks"]),
        (5, ["question", "a+b", "result b", "(interrupted)", "answer", "thanks"]),
        (7, ["question", "a+b", "result a", "result b", "thanks"]),
    ],
)
async def test_a_damaged_line_is_skipped_told_and_its_pairs_are_mended(
    tmp_path: Path, line: int, left: list[str]
) -> None:
    path = a_session(tmp_path)
    change(path, line, garble)
    history, notices = await opened(path)
    assert texts(history.entries) == left
    assert notices == [f"Damaged lines of the session file were skipped: {line}. {REPAIR}"]


async def test_a_line_damaged_inside_is_found_where_it_is_read(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    change(path, 7, lambda line: line.replace(b'"content":"answer"', b'"content":"ans\xffwer"'))
    history, notices = await opened(path)
    assert texts(history.entries) == ["question", "a+b", "result a", "result b", "thanks"]
    assert notices == [f"Damaged lines of the session file were skipped: 7. {REPAIR}"]


async def test_a_missing_line_is_told(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    change(path, 5, drop)
    history, notices = await opened(path)
    assert texts(history.entries) == ["question", "a+b", "result b", "(interrupted)", "answer", "thanks"]
    assert notices == [f"Lines are missing in the session file before line 5. {REPAIR}"]


async def test_a_made_up_result_goes_with_its_call_when_that_is_folded(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    change(path, 5, garble)
    history = await open_session(path)
    assert [entry.id for entry in history.entries] == ["m1", "m2", "m4", "m2.1", "m5", "m6"]
    history.fold(summary(history.entries[:5], "all of it"))
    history.close()
    assert texts(history.entries) == ["all of it", "Understood.", "thanks"]
    assert (await opened(path))[0].entries == history.entries


async def test_calls_that_were_running_at_the_end_are_answered_on_disk(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "go")
    ask(history, "a", "b")
    answer(history, "b")
    history.close()
    again, notices = await opened(history.path)
    assert (again.entries[-1].message, notices) == (ToolMessage("a", "read_file", "(interrupted)"), [])
    assert lines(history.path)[-1]["id"] == "m4"
    assert (await opened(history.path))[0].entries == again.entries


@pytest.mark.parametrize("line", [1, 5, 8])
async def test_a_newer_version_is_refused_with_a_sentence(tmp_path: Path, line: int) -> None:
    path = a_session(tmp_path)
    change(path, line, lambda line: line.replace(b'"v":1', b'"v":2'))
    with path.open("ab") as file:
        file.write(b"torn")
    before = path.read_bytes()
    for look in (open_session(path), _checked(path)):
        with pytest.raises(SessionTooNew) as refused:
            await look
        assert "format 2" in str(refused.value)
    assert path.read_bytes() == before
    assert [found.name for found in path.parent.iterdir()] == ["s1.jsonl"]


async def _checked(path: Path) -> list[Fault]:
    return check(path)


async def test_records_of_unknown_type_are_passed_over(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"v":1,"seq":9,"ts":"2027-01-15T08:00:00.000Z","type":"checkpoint","files":[]}\n')
    history = await open_session(path)
    say(history, "on")
    history.close()
    assert ([line["seq"] for line in lines(path)][-2:], history.notices) == ([9, 10], ())


@pytest.mark.parametrize(
    "record",
    [
        b"null",
        b"[]",
        b"{}",
        b'{"v":true,"seq":9,"ts":"","type":"note"}',
        b'{"v":1,"seq":"9","ts":"x","type":"note"}',
        b'{"v":1,"seq":9,"ts":"x","type":"message","id":"../../x","turn":1,"message":{"role":"user","content":"x"}}',
        b'{"v":1,"seq":9,"ts":"x","type":"message","id":"m9","turn":1,"message":{"role":["user"],"content":"x"}}',
        b'{"v":1,"seq":9,"ts":"x","type":"message","id":"m9","turn":1,"message":{"role":"user","content":5}}',
        b'{"v":1,"seq":9,"ts":"x","type":"message","id":"m9","turn":1,"message":7}',
        b'{"v":1,"seq":9,"ts":"x","type":"message","id":"m9","turn":1,"message":' + b"[" * 100_000 + b"}",
        b'{"v":1,"seq":9,"ts":"x","type":"compaction","id":"c1","messages":[{}]}',
        b'{"v":1,"seq":9,"ts":"x","type":"undo","of":["m1"]}',
        b'{"v":1,"seq":9,"ts":"x","type":"rename","name":{}}',
        b'{"v":1,"seq":9,"ts":"x","type":"usage","message":"m5","prompt_tokens":1.5}',
        b'{"v":1,"seq":9,"ts":"x","type":"prompt","system":1,"tools":[]}',
        b'{"v":1,"seq":' + b"9" * 5000 + b',"ts":"x","type":"note"}',
    ],
)
async def test_hostile_lines_are_damaged_lines(tmp_path: Path, record: bytes) -> None:
    path = a_session(tmp_path)
    expected = (await opened(path))[0].entries
    with path.open("ab") as file:
        file.write(record + b"\n")
    history, notices = await opened(path)
    assert history.entries == expected
    assert notices == [f"Damaged lines of the session file were skipped: 9. {REPAIR}"]
    assert [(fault.kind, fault.line) for fault in check(path)] == [("damaged", 9)]


def test_a_good_file_has_no_faults_even_while_calls_are_open(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "go")
    ask(history, "a")
    assert check(history.path) == []


async def test_the_mended_copy_is_a_good_session_of_its_own(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    change(path, 7, garble)
    change(path, 5, drop)
    with path.open("ab") as file:
        file.write(b'{"v":1,"seq":9,"ts":"x","type":"message","id":"m7","turn":2,"origin":"tool","message":')
        file.write(b'{"role":"tool","tool_call_id":"zz","name":"f","content":"whose?"}}\n{"torn')
    before = path.read_bytes()
    faults = check(path)
    assert [(fault.kind, fault.line) for fault in faults] == [
        ("unanswered", 4),
        ("missing", 5),
        ("damaged", 6),
        ("orphan", 8),
        ("torn", 9),
    ]
    copy = write_mended(path)
    assert (path.read_bytes(), copy.name, check(copy)) == (before, "s1-mended.jsonl", [])
    history, notices = await opened(copy)
    assert notices == []
    assert (history.session.id, history.session.parent) == ("s1-mended", "s1")
    assert texts(history.entries) == ["question", "a+b", "result b", "(interrupted)", "thanks"]
    assert [line["seq"] for line in lines(copy)] == list(range(1, 8))
    with pytest.raises(SessionError):
        write_mended(path)


async def test_a_copy_of_what_is_good_already_resumes_equal(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    history = await open_session(path)
    history.fold(summary(history.entries[:5], "all"))
    history.append(UserMessage("on \ud800"), origin="user", new_turn=True)
    history.close()
    copy = write_mended(path)
    assert (await opened(copy))[0].entries == history.entries
    assert lines(copy)[1:] == lines(path)[1:]


def test_a_file_with_nothing_in_it_is_not_well(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.touch()
    assert check(path) == [Fault("missing", 1, "everything")]
    path.write_bytes(bytes(100))
    assert check(path) == [Fault("torn", 1, "100 bytes")]
