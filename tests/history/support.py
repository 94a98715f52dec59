"""Sessions that read aloud: what is said, asked for, answered and folded in these tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codeagent.core.entries import Compaction, Entry, Prompt, Replacement
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.history.history import History
from codeagent.history.records import SessionInfo
from codeagent.history.sessions import new_session

NOON = 1_800_000_000.25
INFO = SessionInfo("s1", "demo-0123456789ab", "/src/demo", "gpt-x", "0.1.0")
PROMPT = Prompt("You are an agent.", b'[{"type":"function","function":{"name":"read_file"}}]')


def session_path(folder: Path, id: str = "s1") -> Path:
    return folder / "history" / INFO.project_id / f"{id}.jsonl"


def begin(folder: Path, prompt: Prompt = PROMPT) -> History:
    """A new session with its prompt."""
    history = new_session(session_path(folder), INFO, now=lambda: NOON)
    history.set_prompt(prompt, "start")
    return history


def say(history: History, text: str) -> Entry:
    return history.append(UserMessage(text), origin="user", said=text, new_turn=True)


def reply(history: History, text: str) -> Entry:
    return history.append(AssistantMessage(text), origin="model")


def ask(history: History, *calls: str) -> Entry:
    """The model calls the tool `read_file` under these call ids."""
    return history.append(AssistantMessage("", tuple(ToolCall(id, "read_file") for id in calls)), origin="model")


def answer(history: History, call: str, text: str = "done") -> Entry:
    return history.append(ToolMessage(call, "read_file", text), origin="tool", ms=7)


def summary(entries: Sequence[Entry], text: str) -> Compaction:
    """Fold these entries into a summary and an acknowledgement."""
    of = tuple(entry.id for entry in entries)
    messages = (Replacement(UserMessage(text), of), Replacement(AssistantMessage("Understood.")))
    return Compaction("", 2, "", messages, tokens_before=100, tokens_after=10, left=of)


def masks(entries: Sequence[Entry]) -> Compaction:
    """Put one line in the place of each of these tool results."""
    messages = tuple(
        Replacement(ToolMessage(entry.message.call_id, entry.message.name, "(masked)"), (entry.id,), entry.id)
        for entry in entries
        if isinstance(entry.message, ToolMessage)
    )
    return Compaction("", 1, "", messages, tokens_before=100, tokens_after=10)


def texts(entries: Sequence[Entry]) -> list[str]:
    """Each message in a few words: its text, or the ids it calls."""
    return [
        "+".join(call.id for call in entry.message.calls)
        if isinstance(entry.message, AssistantMessage) and entry.message.calls
        else entry.message.text
        for entry in entries
    ]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]
