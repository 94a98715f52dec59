"""A turn as it is seen: events come in; what has settled is written for good, the rest is live."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatchmethod

from codeagent.core.display import plain, visible
from codeagent.core.events import (
    CallDelta,
    Compacted,
    Compacting,
    Event,
    Notice,
    ReasoningDelta,
    Replied,
    Retrying,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from codeagent.ui.markdown import Splitter
from codeagent.ui.paper import Paper
from codeagent.ui.render import (
    error_rows,
    money,
    receipt_rows,
    said_rows,
    seconds,
    shown_rows,
    tokens,
    tool_line,
    tool_rows,
)
from codeagent.ui.rows import Row, fit, wrap
from codeagent.ui.surface import Surface

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WORTH_TELLING = 0.5
"""Seconds of thinking below which nothing is said of it."""
TAIL = 1_000
"""Characters of a running tool's output that are kept to show its end."""
TAIL_ROWS = 5
"""Rows of that for all that runs together."""
SHELL = "shell"


@dataclass(slots=True)
class _Running:
    tool: str
    title: str
    since: float
    tail: str = ""


class TurnView:
    """Shows one turn. `cost` tells what the session has cost so far, in US dollars."""

    def __init__(
        self,
        surface: Surface,
        cost: Callable[[], float | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.last: ToolFinished | None = None
        """The newest finished call."""
        self.reason = ""
        """How the turn ended."""
        self._surface = surface
        self._cost = cost
        self._spent_before = cost()
        self._clock = clock
        self._since = clock()
        self._splitter, self._paper = Splitter(), Paper()
        self._running: dict[str, _Running] = {}
        self._thinking: tuple[float, int] | None = None
        self._doing = "Working"
        self._retry_at: float | None = None
        self._skip: Callable[[], None] | None = None
        """Ends the wait that is shown."""
        self._answered = False
        self._sent = self._received = 0

    def stopping(self) -> None:
        """The person wants it to stop."""
        self._doing, self._retry_at = "Stopping", None

    def hurry(self) -> bool:
        """Try again at once. False when nothing is waited for."""
        if self._retry_at is None or self._skip is None:
            return False
        self._skip()
        self._retry_at = self._clock()
        return True

    # ---- live ------------------------------------------------------------------------------------------------------

    def live(self, cells: int, *, asking: bool = False) -> list[Row]:
        """Rows for what goes on; while the person is asked something, it is the person one waits for."""
        now = self._clock()
        answer = self._paper.peek(self._splitter.tail, cells)
        rows = [*answer, []] if answer else []
        if asking:
            return rows[:-1]
        frame = SPINNER[int(now * 10) % len(SPINNER)]
        for call in self._running.values():
            rows.append(tool_line(("class:busy", f"{frame} "), call.title, seconds(now - call.since), cells))
            tail = _last_lines(call.tail, max(TAIL_ROWS // len(self._running), 1))
            rows += [[("class:dim", f"  {fit(line, cells - 2)}")] for line in tail]
        keys = "Esc to interrupt" if self._retry_at is None else "Enter: now · Esc to interrupt"
        if any(call.tool == SHELL for call in self._running.values()):
            keys += " · Ctrl-B to background"
        told = f"{self._told(now)} · {seconds(now - self._since)} · {keys}"
        mark = " " if self._running else frame
        return [*rows, [("class:busy", f"{mark} "), ("class:dim", fit(told, cells - 2))]]

    def _told(self, now: float) -> str:
        if self._retry_at is not None:
            return f"{self._doing} in {max(self._retry_at - now, 0):.0f} s"
        if self._thinking is not None:
            since, size = self._thinking
            return f"Thinking for {seconds(now - since)}, {tokens(size)} characters"
        return f"{self._doing}…"

    # ---- events ----------------------------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        """Show what happened."""
        self._take(event)
        self._surface.changed()

    @singledispatchmethod
    def _take(self, event: Event) -> None:
        """A step began, a turn began: nothing that is shown."""
        self._doing, self._retry_at = "Working", None

    @_take.register
    def _(self, event: TextDelta) -> None:
        self._thought()
        self._doing, self._retry_at, self._answered = "Answering", None, True
        self._write(self._paper.rows(self._splitter.feed(event.text), self._surface.cells), "answer")

    @_take.register
    def _(self, event: ReasoningDelta) -> None:
        since, size = self._thinking or (self._clock(), 0)
        self._thinking, self._retry_at = (since, size + len(event.text)), None

    @_take.register
    def _(self, event: CallDelta) -> None:
        self._thought()
        size = f", {tokens(event.size)} characters" if event.size > 200 else ""
        self._doing, self._retry_at = f"Preparing {visible(event.name)}{size}", None

    @_take.register
    def _(self, event: Retrying) -> None:
        self._thinking = None
        if self._answered:
            self._settle()
            self._note("What is above was cut off and does not count.")
        told = f"Trying again ({event.attempt} of {event.attempts})"
        self._doing, self._retry_at, self._answered = told, self._clock() + event.wait, False
        self._skip = event.skip
        self._note(f"{visible(str(event.error))} {told} after {seconds(event.wait)}.")

    @_take.register
    def _(self, event: Replied) -> None:
        self._thought()
        if event.message.text and not self._answered:
            self._take(TextDelta(event.message.text))
        self._settle()
        self._doing, self._answered = "Working", False
        if event.usage is not None:
            self._sent += event.usage.prompt_tokens
            self._received += event.usage.completion_tokens

    @_take.register
    def _(self, event: ToolStarted) -> None:
        self._settle()
        self._running[event.call.id] = _Running(event.call.name, event.title, self._clock())

    @_take.register
    def _(self, event: ToolProgress) -> None:
        if call := self._running.get(event.call_id):
            call.tail = (call.tail + event.text)[-TAIL:]

    @_take.register
    def _(self, event: ToolFinished) -> None:
        self._running.pop(event.call.id, None)
        self.last = event
        self._write(tool_rows(event, self._surface.cells), "tools")

    @_take.register
    def _(self, event: Compacting) -> None:
        self._doing = f"Compacting {tokens(event.tokens)} tokens"

    @_take.register
    def _(self, event: Compacted) -> None:
        self._doing = "Working"
        self._write(receipt_rows(event.receipt, self._surface.cells), "notes")

    @_take.register
    def _(self, event: Steered) -> None:
        self._write(said_rows(event.text, self._surface.cells), "")

    @_take.register
    def _(self, event: Notice) -> None:
        self._write(shown_rows(event, self._surface.cells), "notes")

    @_take.register
    def _(self, event: TurnEnded) -> None:
        self._thought()
        self._settle()
        self._running.clear()
        self.reason = event.reason
        if event.error is not None:
            self._write(error_rows(event.error, self._surface.cells), "")
        self._write([self._last_row(event)], "end")

    # ---- settling --------------------------------------------------------------------------------------------------

    def _last_row(self, event: TurnEnded) -> Row:
        parts = [seconds(event.seconds), f"{event.steps} step{'s' * (event.steps != 1)}"]
        if self._sent or self._received:
            parts.append(f"{tokens(self._sent)} in, {tokens(self._received)} out")
        cost, before = self._cost(), self._spent_before
        if cost is not None and cost > (before or 0.0):
            parts.append(money(cost - (before or 0.0)))
        word = {"done": "", "interrupted": "interrupted · ", "limit": "stopped · ", "failed": "failed · "}[event.reason]
        return [("class:dim", fit(f"{word}{' · '.join(parts)}", self._surface.cells))]

    def _thought(self) -> None:
        if self._thinking is not None:
            lasted = self._clock() - self._thinking[0]
            self._thinking = None
            if lasted >= WORTH_TELLING:
                self._note(f"thought for {seconds(lasted)}")

    def _note(self, text: str) -> None:
        self._write(wrap([("class:dim", text)], self._surface.cells), "notes")

    def _settle(self) -> None:
        """The answer is over, as far as it goes."""
        self._write(self._paper.rows(self._splitter.end(), self._surface.cells), "answer")
        self._paper = Paper()

    def _write(self, rows: list[Row], group: str) -> None:
        self._surface.write(rows, group)


def _last_lines(tail: str, most: int) -> list[str]:
    """The newest lines with something on them; a carriage return begins one anew, as on a terminal."""
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in tail.split("\n")]
    return [plain(line) for line in lines if line.strip()][-most:]
