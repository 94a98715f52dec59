"""A session and a desk that play written events, for tests of what is seen and typed.

Run as a script it is a REPL over such a desk: `python -m tests.ui.doubles '{"folder": "...", ...}'`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from codeagent.core.entries import Compaction, Entry, Usage
from codeagent.core.errors import LimitReached, NetworkError, NotConfigured
from codeagent.core.events import (
    Compacted,
    Event,
    Notice,
    ReasoningDelta,
    Replied,
    Retrying,
    Steered,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import INTERRUPTED, AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.core.todo import Todo
from codeagent.core.tools import Command, Diff, ToolResult
from codeagent.core.ui import UI, Choice, Question, Row
from codeagent.ui.look import Look
from codeagent.ui.repl import run_repl

ANSWER = """# 结果

The **tests** pass now: `pytest -q` 全部通过。中文和 English 混排 😀 也要对齐。

1. first point
2. second point
   - nested

```python
def add(a: int, b: int) -> int:
    return a + b  # 求和
```

| name | 大小 | note |
| --- | ---: | --- |
| alpha | 12 | ok |
| 记忆系统 | 3 | good |

> quoted

Done.
"""
YES_NO = (
    Choice("yes", "Yes"),
    Choice("session", "Yes, and do not ask again for this command in this session"),
    Choice("no", "No, and tell it what to do instead", feedback=True),
)


@dataclass
class Steering:
    waiting: list[str] = field(default_factory=list)

    def take(self) -> tuple[str, ...]:
        taken, self.waiting = tuple(self.waiting), []
        return taken


class Session:
    """Plays what the line asks for by its first word."""

    def __init__(self, ui: UI, history: Sequence[Entry] = ()) -> None:
        self.ui = ui
        self._stop = asyncio.Event()
        self.agent = SimpleNamespace(steering=Steering())
        self.history = SimpleNamespace(
            entries=list(history), name="an earlier day", turn=history[-1].turn if history else 0
        )
        self.id = "20260101-000000-abcdef"
        self.mode = "default"
        self.cost = 0.0
        self.todos: tuple[Todo, ...] = ()

    @property
    def queued(self) -> tuple[str, ...]:
        return tuple(self.agent.steering.waiting)

    def steer(self, text: str) -> None:
        self.agent.steering.waiting.append(text)

    def interrupt(self) -> None:
        self._stop.set()

    def keep_picture(self, data: bytes) -> str:
        return f"@pasted-{len(data)}.png"

    def cycle_mode(self) -> str:
        modes = ["default", "accept-edits", "plan", "yolo"]
        self.mode = modes[(modes.index(self.mode) + 1) % len(modes)]
        return self.mode

    def status(self) -> Any:
        return SimpleNamespace(
            model="test-model", mode=self.mode, context_tokens=12_000, window=100_000, trigger=80_000,
            prompt_tokens=17_000, completion_tokens=1_200, cached_tokens=0, cost_usd=self.cost or None,
            estimated=False, session_id=self.id, name="", turns=1,
        )  # fmt: skip

    async def run_turn(self, text: str) -> AsyncIterator[Event]:
        self._stop.clear()
        self.history.turn += 1
        yield TurnStarted(1, text)
        yield StepStarted(1, 100)
        play = getattr(self, f"_{text.split()[0]}", self._say)
        reason = "done"
        async for event in play(text):
            yield event
            if self._stop.is_set():
                reason = "interrupted"
                break
        self.cost += 0.03
        error = LimitReached("The turn took {steps} steps, its limit.", steps=9, hint="Say “go on”.")
        yield TurnEnded(reason, 2, 1.5, error if text == "limit" else None)  # type: ignore[arg-type]

    def title(self, call: ToolCall) -> str:
        return f"{call.name.title()} {call.arguments}"

    async def run_shell(self, command: str, *, tell: bool) -> AsyncIterator[Event]:
        title = f"Run {command} ({'told' if tell else 'kept'})"
        call = ToolCall("c", "shell")
        yield ToolStarted(call, title)
        yield ToolFinished(call, title, ToolResult("", summary="exit 0", display="first\nsecond"), 0.0)

    async def aclose(self) -> None:
        return None

    async def _pause(self, seconds: float) -> None:
        await asyncio.wait([asyncio.create_task(self._stop.wait())], timeout=seconds)

    async def _say(self, text: str) -> AsyncIterator[Event]:
        yield ReasoningDelta("hm " * 50)
        answer = ANSWER if text == "answer" else f"You said {text!r}."
        for start in range(0, len(answer), 7):
            yield TextDelta(answer[start : start + 7])
            await asyncio.sleep(0)
        yield Replied("m2", AssistantMessage(answer), Usage(9_100, 600), 0.5)

    async def _wait(self, text: str) -> AsyncIterator[Event]:
        yield TextDelta("I am at it")
        call = ToolCall("c1", "shell", "{}")
        yield ToolStarted(call, "Run sleep 60")
        yield ToolProgress("c1", "line one\nline two")
        while not self._stop.is_set() and not self.queued:
            await self._pause(30 if self._stop.is_set() else 0.05)
            yield StepStarted(1, 1)
        for steered in self.agent.steering.take() if not self._stop.is_set() else ():
            yield Steered(steered)
        yield ToolFinished(call, "Run sleep 60", ToolResult("line one\nline two", summary="2 lines"), 1.2)

    async def _edit(self, text: str) -> AsyncIterator[Event]:
        before = "".join(f"line {number}\n" for number in range(1, 30))
        diff = Diff("src/a.py", before, before.replace("line 14\n", "第十四行 changed\n"))
        answer = await self.ui.ask(Question("Edit src/a.py?", YES_NO, diff))
        call = ToolCall("c1", "edit_file", "{}")
        allowed = answer.key in ("yes", "session")
        yield TextDelta(f"The answer was {answer.key or 'nothing'} {answer.text}".rstrip())
        yield Replied("m2", AssistantMessage("x", (call,)), None, 0.1)
        yield ToolFinished(call, "Edit src/a.py", ToolResult("ok", denied=not allowed, display=diff), 0.2)

    async def _run(self, text: str) -> AsyncIterator[Event]:
        answer = await self.ui.ask(Question("Run this command?", YES_NO, Command("rm -rf build\x1b[2J", "/src")))
        call = ToolCall("c1", "shell", "{}")
        result = ToolResult("boom: \x1b[31mbad\x1b[0m\nmore", failed=True, summary="exit 1")
        yield TextDelta(f"The answer was {answer.key or 'nothing'} {answer.text}".rstrip())
        yield ToolFinished(call, "Run rm -rf build", result, 3.21)

    async def _ask(self, text: str) -> AsyncIterator[Event]:
        own = Choice("own", "Answer in my own words", feedback=True)
        answer = await self.ui.ask(Question("你想要哪一种颜色？", (own,)))
        yield TextDelta(f"The answer was {answer.key or 'nothing'} {answer.text}".rstrip())

    async def _retry(self, text: str) -> AsyncIterator[Event]:
        yield TextDelta("half an ans")
        yield Retrying(NetworkError("The connection to {host} broke.", host="x"), 2, 5, 0.2)
        yield TextDelta("whole")
        yield Notice("The budget is {percent} % used.", {"percent": 80}, "warning")
        yield Compacted(Compaction("k1", 2, "m9", (), 95_000, 12_000))

    async def _hold(self, text: str) -> AsyncIterator[Event]:
        """A failure in passing that is waited out, unless the person has had enough of it."""
        skipped = asyncio.Event()
        yield Retrying(NetworkError("The connection to {host} broke.", host="x"), 1, 5, 500.0, skipped.set)
        await skipped.wait()
        yield TextDelta("At last.")

    async def _todo(self, text: str) -> AsyncIterator[Event]:
        """A list whose steps are done one after the other, at each word of the person."""
        steps = (
            "读一遍解析器的代码，找出错误",
            "write a test that fails",
            "mend it",
            *(f"check {n}" for n in range(4, 12)),
        )
        done = int(text.split()[1])
        self.todos = tuple(
            Todo(step, "done" if at < done else "in_progress" if at == done else "pending")
            for at, step in enumerate(steps)
        )
        call = ToolCall("c1", "todo", "{}")
        title = f"Todo: {done} of {len(steps)} done"
        yield ToolFinished(call, title, ToolResult("Noted."), 0.0)
        yield TextDelta("Noted.")
        yield Replied("m2", AssistantMessage("Noted."), None, 0.1)

    async def _evil(self, text: str) -> AsyncIterator[Event]:
        yield TextDelta("a\x1b[2Jb \x1b]0;title\x07 \u202eabc `\x9b31m`\n")

    async def _crash(self, text: str) -> AsyncIterator[Event]:
        yield TextDelta("so far")
        raise ValueError("a fault")


class Desk:
    def __init__(self, session: Session) -> None:
        self.session = session
        self._notices = [Notice("One notice before the first turn.", level="warning")]

    @property
    def notices(self) -> Sequence[Notice]:
        news, self._notices = self._notices, []
        return news

    def sessions(self) -> Sequence[Row]:
        return [Row(f"s{number}", (f"s{number}", f"第{number}个 session", "3 turns")) for number in range(30)]

    def models(self) -> Sequence[Row]:
        return [Row("m", ("m", "a model"))]

    async def resume(self, session: Session, session_id: str) -> Session:
        return Session(session.ui, EARLIER)

    async def use_model(self, session: Session, name: str) -> Session:
        return session

    async def clear(self, session: Session) -> None:
        return None


EARLIER = [
    Entry("m1", 1, UserMessage("long ago"), b"", 1, "user", "long ago"),
    Entry("m2", 1, AssistantMessage("Yes."), b"", 1, "model"),
    Entry("m3", 2, UserMessage("what is it?"), b"", 1, "user", "what is it?"),
    Entry("m4", 2, AssistantMessage("It is **fine**."), b"", 1, "model"),
    Entry("m5", 3, UserMessage("and now?"), b"", 1, "user", "and now?"),
    Entry(
        "m6",
        3,
        AssistantMessage(
            "", (ToolCall("c", "read", "a.py"), ToolCall("d", "run", "make"), ToolCall("e", "run", "task"))
        ),
        b"",
        1,
        "model",
    ),
    Entry("m7", 3, ToolMessage("c", "read", "text"), b"", 1, "tool"),
    Entry("m8", 3, ToolMessage("e", "run", f"half\n{INTERRUPTED}"), b"", 1, "tool"),
]


def main() -> int:
    told = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    folder = Path(told.get("folder", "."))

    async def open_desk(ui: UI) -> Any:
        await asyncio.sleep(told.get("delay", 0))
        if told.get("unset"):
            raise NotConfigured("No model is set up.\nSet OPENAI_API_KEY.", hint="Or run codeagent setup.")
        return Desk(Session(ui, EARLIER if told.get("resumed") else ()))

    look = Look(
        cwd=folder,
        history=folder / "typed",
        version="0.1.0",
        model="test-model",
        vim=bool(told.get("vim")),
        status_line=told.get("status_line", True),
        notify=told.get("notify", "off"),
        away=told.get("away", 0.0),
        editor=tuple(told.get("editor", ("vi",))),
        environ=dict(os.environ),
    )
    return asyncio.run(run_repl(open_desk, look, told.get("first")))


if __name__ == "__main__":
    sys.exit(main())
