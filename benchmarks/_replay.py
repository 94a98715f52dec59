"""A recorded run played again through the real loop: model and tools say what they said."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks._runs import Run, made, recorded
from codeagent.core.entries import Entry, Usage
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.core.tokens import estimate_classes
from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.tools import bounds
from codeagent.tools.builtin import read_file, shell, write_file

_WRITES = re.compile(r"cat\s*<<-?\s*['\"]?\w+['\"]?\s*>\s*(\S+)\n|cat\s*>\s*(\S+)\s*<<.*\n")
_EXIT = re.compile(r"<returncode>(-?\d+)</returncode>")


@dataclass(frozen=True)
class Act:
    """One step of a run: what the model said and called."""

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Recording:
    """A run with one request."""

    task: str
    acts: tuple[Act, ...]
    results: dict[str, str]
    """What the tools answered, whole, by call id."""

    def tools(self) -> dict[str, Tool]:
        """Tools that answer from the recording, bounded and archived as real ones are."""

        async def answer(params: Any, ctx: ToolContext) -> ToolResult:
            text = self.results.get(ctx.call_id, "")
            bounded = bounds.bound(text, bounds.SHELL, ctx.archive, ctx.call_id)
            found = _EXIT.search(text)
            code = int(found[1]) if found else 0
            told = f"{bounded.text}\n[exit {code}]"
            return ToolResult(told, code != 0, bounded.partial, archive=bounded.archive)

        return {tool.name: replace(tool, run=answer) for tool in (shell.TOOL, read_file.TOOL, write_file.TOOL)}


def recording(run: Run) -> Recording:
    """The run as it can be played: a file that a command writes is written by the tool for it."""
    acts, results = [], {}
    task = next(entry.message.text for entry in run.all if entry.origin == "user")
    for message in map(_message, run.all):
        if message["role"] == "tool":
            results[message["tool_call_id"]] = message["content"] or ""
        elif message["role"] == "assistant":
            acts.append(Act(message["content"] or "", tuple(map(_call, message.get("tool_calls") or ()))))
    return Recording(task, tuple(act for act in acts if act.calls), results)


def chosen(path: str, most: str) -> list[Recording]:
    """The first `most` runs of the file at `path`, as they were given on the command line; of our own without one."""
    file = Path(path or "../shared/data/runs.jsonl")
    runs = recorded(file, estimate_classes) if file.is_file() else made(estimate_classes)
    return [recording(run) for run in runs[: int(most) if most else None]]


def _message(entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(entry.wire)
    return found


def _call(raw: dict[str, Any]) -> ToolCall:
    call = ToolCall(raw["id"], raw["function"]["name"], raw["function"]["arguments"])
    command = json.loads(call.arguments).get("command", "")
    if not (found := _WRITES.match(command)):
        return call
    given = {"path": (found[1] or found[2]).strip("'\""), "content": command[found.end() :].rpartition("\n")[0]}
    return ToolCall(call.id, "write_file", json.dumps(given, ensure_ascii=False))


@dataclass
class Player:
    """The model: plays the acts one after the other, then says that it is done; `summary` whatever it is to sum up."""

    acts: Iterator[Act]
    summary: Callable[[], AssistantMessage]
    look: Callable[[Request, Act | None], object] = lambda request, act: None
    """Sees every request, and for those of a turn what is answered."""

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        act = next(self.acts, Act("Done.")) if request.purpose == "turn" else None
        self.look(request, act)
        message = self.summary() if act is None else AssistantMessage(act.text, act.calls)
        yield Reply(message, Usage(size(request), 10))

    async def aclose(self) -> None:
        return None


def system_text(request: Request) -> bytes:
    """The system prompt as text, which is what counts of it."""
    return str(json.loads(request.messages[0])["content"]).encode()


def size(request: Request) -> int:
    """Estimated tokens of a request."""
    return sum(map(_tokens, (system_text(request), *request.messages[1:], request.tools)))


@lru_cache(maxsize=4096)
def _tokens(data: bytes) -> int:
    """Most messages are in many requests."""
    return estimate_classes(data)
