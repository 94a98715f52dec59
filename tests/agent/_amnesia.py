"""A model that knows only what is in its request, and a task over five files that outlives its context."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from codeagent.core.entries import Usage
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.memory import board

FILES = ("a.py", "b.py", "c.py", "d.py", "e.py")
CONSTRAINT = "Every file begins with the line: # licensed under MIT"
DECISION = "the new functions are called run_later"
TASK = f"TASK: write {', '.join(FILES)}. Stop after the second for a review. Agreed: {DECISION}."
GO_ON = "Weiter, bitte."
"""Shares no word with the conversation, so that retrieval brings none of it back."""
RIGHT = "# licensed under MIT\ndef run_later(): ...\n"
PLATITUDES = "We had a friendly and productive conversation, and everything is going well."
_SNAPSHOT = ".code-agent-cli/memory/snapshot.md"


@dataclass
class Forgetful:
    """Decides each step anew from the request alone: no state but what it was asked, for the tests to see."""

    keeps_board: bool = True
    """Whether it uses update_task, as it is told."""
    requests: list[Request] = field(default_factory=list)

    async def warm(self) -> None:
        return None

    async def aclose(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        if request.purpose != "turn":
            yield Reply(AssistantMessage(PLATITUDES), Usage(1_000, 10))
            return
        self.requests.append(request)
        text, calls = self._decide(request)
        tokens = sum(map(len, request.messages)) // 4
        yield Reply(AssistantMessage(text, tuple(_numbered(calls, len(request.messages)))), Usage(tokens, 10))

    def _decide(self, request: Request) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        messages = [json.loads(message) for message in request.messages]
        everything = "\n".join(str(message["content"] or "") for message in messages)
        mine = [(call["name"], json.loads(call["arguments"])) for call in _calls(messages)]
        begun = any(name == "update_task" for name, _ in mine)
        seen = _read(messages)
        if "### Goal" in everything and not begun and seen is None:
            return "I look where I was.", [("read_file", {"path": _SNAPSHOT})]
        done, waiting = _progress(everything, mine, seen or "")
        if not waiting:
            return ("Everything is done." if done else "What am I to do?"), []
        if TASK in everything and GO_ON not in everything and len(done) >= 2:
            return "Two are done; please review.", []
        return f"Next: {waiting[0]}.", self._work(waiting, begun or seen is not None, everything)

    def _work(self, waiting: list[str], begun: bool, everything: str) -> list[tuple[str, dict[str, Any]]]:
        name, rest = waiting[0], "\n".join(waiting[1:])
        head = "# licensed under MIT\n" if CONSTRAINT in everything else ""
        body = "def run_later(): ...\n" if DECISION in everything else "def later(): ...\n"
        write = ("write_file", {"path": name, "content": head + body})
        if not self.keeps_board:
            return [write]
        start = (
            [] if begun else [("goal", "Write the five files."), ("decisions", DECISION), ("open", "\n".join(waiting))]
        )
        states = [*start, ("in_progress", name)]
        after = [("done", name), ("open", rest), ("in_progress", waiting[1] if rest else "")]
        noted = [[("update_task", {"section": s, "content": c}) for s, c in some] for some in (states, after)]
        return [*noted[0], write, *noted[1]]


def _calls(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        yield from (call["function"] for call in message.get("tool_calls", ()))


def _read(messages: list[dict[str, Any]]) -> str | None:
    """The snapshot as it was read by a call in the request, without line numbers."""
    for message in reversed(messages):
        if message["role"] == "tool" and message["name"] == "read_file" and "## Goal" in message["content"]:
            return re.sub(r"^\d+\t", "", message["content"], flags=re.MULTILINE)
    return None


def _progress(everything: str, mine: list[tuple[str, dict[str, Any]]], snapshot: str) -> tuple[list[str], list[str]]:
    """(finished, still to do) as far as the request tells."""
    done = board.items(board.section(snapshot, "done"))
    done += [arguments["path"] for name, arguments in mine if name == "write_file"]
    if snapshot:
        known = [*board.items(board.section(snapshot, "in_progress")), *board.items(board.section(snapshot, "open"))]
    else:
        known = list(FILES) if TASK in everything else []
    return done, [name for name in dict.fromkeys(known) if name not in done]


def _numbered(calls: list[tuple[str, dict[str, Any]]], base: int) -> Iterator[ToolCall]:
    for number, (name, arguments) in enumerate(calls):
        yield ToolCall(f"c{base}-{number}", name, json.dumps(arguments))


def written(requests: list[Request]) -> list[str]:
    """The files that were written, in order, each call once; the last request of a conversation knows them all."""
    seen: dict[str, str] = {}
    for request in requests:
        for message in map(json.loads, request.messages):
            for call in message.get("tool_calls", ()):
                if call["function"]["name"] == "write_file":
                    seen[call["id"]] = json.loads(call["function"]["arguments"])["path"]
    return list(seen.values())
