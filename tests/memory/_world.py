"""Builders for the tests of memory: a clock to turn, ids to count, facts that read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from codeagent.core.entries import Entry, Origin, Prompt, Usage
from codeagent.core.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage, encode
from codeagent.core.tokens import estimate_classes

START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
PROMPT = Prompt("You are a coding agent.", b'[{"type":"function"}]')


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_hours(self, hours: float) -> None:
        self.now += timedelta(hours=hours)


def counted_ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"f{next(numbers)}"


def split(text: str) -> list[str]:
    """Words without jieba: Latin words, Chinese characters one by one."""
    return re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", text.lower())


@dataclass
class Talk:
    """A history as memory sees it, built by saying things."""

    prompt: Prompt = PROMPT
    entries: list[Entry] = field(default_factory=list)
    turn: int = 0
    anchor: Anchor | None = None

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)

    def user(self, text: str, origin: Origin = "user") -> Talk:
        self.turn += origin == "user"
        return self._add(UserMessage(text), origin)

    def assistant(self, text: str, *calls: ToolCall) -> Talk:
        return self._add(AssistantMessage(text, calls), "model")

    def tool(self, call_id: str, text: str) -> Talk:
        return self._add(ToolMessage(call_id, "shell", text), "tool")

    def turns(self, first: int, last: int) -> Talk:
        """Turns of a request, a command and an answer, of some length each."""
        for number in range(first, last + 1):
            call = ToolCall(f"call{number}", "shell", f'{{"command":"make step-{number}"}}')
            self.user(f"Request {number}: do step {number}.").assistant("", call)
            self.tool(call.id, f"output of step {number}\n" * 40).assistant(f"Step {number} is done.")
        return self

    def _add(self, message: Message, origin: Origin) -> Talk:
        wire = encode(message)
        self.entries.append(
            Entry(
                f"m{len(self.entries) + 1}",
                self.turn,
                message,
                wire,
                estimate_classes(wire),
                origin,
                message.text if origin in ("user", "steer") else None,
            )
        )
        return self


@dataclass(frozen=True)
class Anchor:
    usage: Usage
    entries: int


class Summariser:
    """Answers a summary request with the next of its texts and keeps what it was asked."""

    def __init__(self, *texts: str | Exception) -> None:
        self._texts = list(texts)
        self.asked: list[tuple[list[bytes], bytes, str]] = []

    async def __call__(self, messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        self.asked.append((list(messages), tools, instruction))
        text = self._texts.pop(0)
        if isinstance(text, Exception):
            raise text
        return text
