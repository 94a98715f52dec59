"""The session file, line by line, and its permissions."""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path

import pytest

from codeagent.core.entries import Prompt, Usage
from codeagent.core.errors import SessionBusy, SessionError, StoreError
from codeagent.core.messages import AssistantMessage, Reasoning, ToolCall, ToolMessage, UserMessage, WireShape
from codeagent.history.journal import Journal
from codeagent.history.sessions import new_session, open_session
from tests.history.support import INFO, PROMPT, ask, begin, lines, reply, say, session_path, summary

TS = "2027-01-15T08:00:00.250Z"


def test_nothing_said_leaves_nothing_behind(tmp_path: Path) -> None:
    history = begin(tmp_path)
    history.rename("a name")
    history.note("a warning")
    history.close()
    assert list(tmp_path.iterdir()) == []


async def test_every_record_as_it_stands_in_the_file(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "读 a.py\u2028")
    history.append(
        AssistantMessage("", (ToolCall("c", "read_file", '{"path":"a.py"}'),), Reasoning("hm", "reasoning")),
        origin="model",
    )
    history.append(
        ToolMessage("c", "read_file", "x = 1"), origin="tool", failed=True, partial=True, archive="c.txt", ms=12
    )
    history.report(Usage(100, 20, 64), "m2", estimated=97, cost_usd=0.5)
    receipt = history.fold(summary(history.entries, "All of it."))
    history.rename("first look")
    history.note("careful")
    await history.undo(receipt.id)
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a.py"}'}}
    bodies: list[dict[str, object]] = [
        {
            "type": "session", "id": "s1", "project_id": "demo-0123456789ab", "cwd": "/src/demo", "model": "gpt-x",
            "version": "0.1.0",
        },
        {
            "type": "prompt", "reason": "start", "digest": "", "system": "You are an agent.",
            "tools": [{"type": "function", "function": {"name": "read_file"}}],
        },
        {
            "type": "message", "id": "m1", "turn": 1, "origin": "user", "said": "读 a.py\u2028",
            "message": {"role": "user", "content": "读 a.py\u2028"},
        },
        {
            "type": "message", "id": "m2", "turn": 1, "origin": "model",
            "message": {"role": "assistant", "content": None, "tool_calls": [call]},
            "reasoning": {"key": "reasoning", "text": "hm"},
        },
        {
            "type": "message", "id": "m3", "turn": 1, "origin": "tool", "failed": True, "partial": True,
            "archive": "c.txt", "ms": 12,
            "message": {"role": "tool", "tool_call_id": "c", "name": "read_file", "content": "x = 1"},
        },
        {
            "type": "usage", "message": "m2", "prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 64,
            "estimated": 97, "cost_usd": 0.5,
        },
        {
            "type": "compaction", "id": "c1", "rung": 2, "first_kept": "", "tokens_before": 100, "tokens_after": 10,
            "left": ["m1", "m2", "m3"], "repaired": [], "digest": "",
            "messages": [
                {
                    "id": "m4", "of": ["m1", "m2", "m3"], "turn": 1, "origin": "summary",
                    "message": {"role": "user", "content": "All of it."},
                },
                {
                    "id": "m5", "of": [], "turn": 1, "origin": "summary",
                    "message": {"role": "assistant", "content": "Understood."},
                },
            ],
        },
        {"type": "rename", "name": "first look"},
        {"type": "note", "text": "careful"},
        {"type": "undo", "of": "c1"},
    ]  # fmt: skip
    assert lines(history.path) == [{"v": 1, "seq": seq, "ts": TS, **body} for seq, body in enumerate(bodies, 1)]
    assert all(line.startswith(b'{"v":1,"seq":') for line in history.path.read_bytes().splitlines())


def test_a_message_stands_in_the_file_with_the_bytes_of_the_request(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, 'quotes " and \\ and 表 and \ud800 and \u2029')
    system, message = history.wire()
    assert json.loads(system) == {"role": "system", "content": "You are an agent."}
    assert b'"message":' + message + b"}\n" in history.path.read_bytes()
    assert history.path.read_bytes().decode().count("\u2029") == 0


async def test_what_came_through_a_pipe_is_there_again(tmp_path: Path) -> None:
    history = begin(tmp_path)
    history.append(UserMessage("what is this?"), origin="user", said="what is this?", piped=True, new_turn=True)
    kept = list(history.entries)
    history.close()
    again = await open_session(history.path)
    assert ([entry.piped for entry in kept], list(again.entries)) == ([True], kept)
    again.close()


def test_file_and_folders_are_private(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "hello")
    modes = {path.name: path.stat().st_mode & 0o777 for path in (history.path, *list(history.path.parents)[:2])}
    assert modes == {"s1.jsonl": 0o600, "demo-0123456789ab": 0o700, "history": 0o700}


async def test_sync_writes_nothing_new_and_survives_being_called_at_any_time(tmp_path: Path) -> None:
    history = begin(tmp_path)
    await history.sync()
    say(history, "hello")
    before = history.path.read_bytes()
    await history.sync()
    await history.sync()
    assert history.path.read_bytes() == before


async def test_a_second_opener_is_told_who_has_it(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "hello")
    with pytest.raises(SessionBusy) as refused:
        await open_session(history.path)
    assert str(refused.value) == (
        f"Session s1 is in use by process {os.getpid()}; --fork-session resumes a copy of it."
    )
    history.close()
    (await open_session(history.path)).close()
    assert [path.name for path in history.path.parent.iterdir()] == ["s1.jsonl"]


async def test_a_new_session_never_writes_into_an_old_one(tmp_path: Path) -> None:
    old = begin(tmp_path)
    say(old, "the old one")
    old.close()
    before = old.path.read_bytes()
    new = begin(tmp_path)
    with pytest.raises(SessionError) as refused:
        say(new, "the new one")
    assert str(refused.value) == "There is a session s1 already."
    assert (old.path.read_bytes(), new.entries, new.turn) == (before, [], 0)


def test_when_the_disk_refuses_nothing_has_changed(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("in the way of the folder")
    history = begin(tmp_path)
    with pytest.raises(StoreError):
        say(history, "hello")
    assert (history.entries, history.turn, history.tokens, len(history.wire())) == ([], 0, 0, 1)
    (tmp_path / "history").unlink()
    say(history, "again")
    assert [(line["seq"], line["type"]) for line in lines(history.path)] == [
        (1, "session"),
        (2, "prompt"),
        (3, "message"),
    ]


def test_a_record_is_one_line(tmp_path: Path) -> None:
    history = new_session(session_path(tmp_path), INFO)
    with pytest.raises(ValueError, match="one line"):
        history.set_prompt(Prompt("x", b"[\n]"), "start")


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "hello")
    history.close()
    with pytest.raises(ValueError, match="closed"):
        reply(history, "too late")
    assert len(history.entries) == 1


def test_half_a_line_is_taken_back_when_the_disk_is_full(tmp_path: Path) -> None:
    """A limit on the size of files makes a write end in the middle, as a full disk does."""
    journal = Journal(tmp_path / "s1.jsonl")
    journal.write(b'"type":"note","text":"whole"}')
    before = journal.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, hard))
        with pytest.raises(StoreError):
            journal.write(b'"type":"note","text":"' + b"x" * 100 + b'"}')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert journal.path.read_bytes() == before
    journal.write(b'"type":"note","text":"after"}')
    assert [(line["seq"], line["text"]) for line in lines(journal.path)] == [(1, "whole"), (2, "after")]


def test_the_same_prompt_serves_another_endpoint_after_reshape(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "go")
    history.append(AssistantMessage("yes", (), Reasoning("hm")), origin="model")
    tokens = history.tokens
    history.reshape(WireShape(echo_reasoning=True))
    history.append(UserMessage("on"), origin="steer")
    assert [json.loads(message) for message in history.wire()] == [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "yes", "reasoning_content": "hm"},
        {"role": "user", "content": "on"},
    ]
    assert history.tokens == sum(entry.tokens for entry in history.entries) > tokens


def test_open_calls_guard_the_history(tmp_path: Path) -> None:
    history = begin(tmp_path)
    say(history, "go")
    with pytest.raises(ValueError, match="results follow their calls"):
        history.append(ToolMessage("nobody", "f", "x"), origin="tool")
    ask(history, "a", "b")
    with pytest.raises(ValueError, match="results follow their calls"):
        say(history, "meanwhile")
    with pytest.raises(ValueError, match="results follow their calls"):
        history.append(ToolMessage("z", "f", "x"), origin="tool")
    for refused in (
        lambda: history.set_prompt(PROMPT, "clear"),
        lambda: history.fold(summary(history.entries[:1], "x")),
    ):
        with pytest.raises(ValueError, match="calls are open"):
            refused()
    assert [call.id for call in history.open_calls] == ["a", "b"]
    assert [entry.message for entry in history.repair_pairs()] == [
        ToolMessage("a", "read_file", "(interrupted)"),
        ToolMessage("b", "read_file", "(interrupted)"),
    ]
    assert (history.open_calls, lines(history.path)[-1]["failed"]) == ((), True)
