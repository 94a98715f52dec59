"""The conversation in plain lines, where no terminal can be drawn on: a dumb one, a pipe, a log."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from codeagent.commands.base import Desk
from codeagent.core.errors import CodeAgentError
from codeagent.core.ui import UI, Answer, Question, Shown, Theme
from codeagent.core.ui import Row as PickerRow
from codeagent.ui.approve import only_words
from codeagent.ui.look import Look
from codeagent.ui.render import shown_rows
from codeagent.ui.rows import Row, text_of
from codeagent.ui.status import Bar
from codeagent.ui.talk import Talk

CELLS = 100
"""Width where nothing tells one."""


class PlainSurface:
    """Writes rows as they come; nothing is live (`surface.Surface`)."""

    def __init__(self) -> None:
        self.bar = Bar()
        self.live: Callable[[int], list[Row]] = lambda cells: []
        self._group: str | None = None
        self._echoed = sys.stdin.isatty()

    @property
    def cells(self) -> int:
        try:
            return max(os.get_terminal_size(sys.stdout.fileno()).columns - 1, 20)
        except OSError:
            return CELLS

    def write(self, rows: Sequence[Row], group: str = "") -> None:
        if not rows or (group == "said" and self._echoed):
            return
        gap = "\n" if self._group is not None and (not group or group != self._group) else ""
        self._group = group
        self.say(f"{gap}{text_of(rows)}\n")

    def say(self, text: str) -> None:
        sys.stdout.write(text.encode(sys.stdout.encoding or "utf-8", "replace").decode(sys.stdout.encoding or "utf-8"))
        sys.stdout.flush()

    def changed(self) -> None:
        """Nothing is live."""

    def animate(self, on: bool) -> None:
        """Nothing moves."""

    def call(self, told: str) -> None:
        """Nobody is called by a pipe."""

    def restore(self, text: str) -> None:
        self.write([[("", f"not said: {line}")] for line in text.split("\n")])


class Lines:
    """Standard input line by line, read by a thread that nobody has to wait for."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, daemon=True).start()

    async def next(self) -> str | None:
        """The next line, None when there are no more."""
        line = await self._queue.get()
        if line is None:
            self._queue.put_nowait(None)
        return line

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        rest = ""
        while data := _read_some(sys.stdin.fileno()):
            *lines, rest = (rest + decoder.decode(data)).split("\n")
            for line in lines:
                self._put(line)
        if rest:
            self._put(rest)
        self._put(None)

    def _put(self, line: str | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        except RuntimeError:
            return


def _read_some(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


class PlainUI:
    """`ports.UI` in lines. Only somebody at a terminal can answer."""

    def __init__(self, surface: PlainSurface, lines: Lines) -> None:
        self._surface = surface
        self._lines = lines
        self.interactive = sys.stdin.isatty()

    async def ask(self, question: Question) -> Answer:
        if not self.interactive:
            return Answer("")
        self._surface.write([[("", question.title)]])
        if question.preview is not None:
            self.show(question.preview)
        choices = [f"{number}. {choice.label}" for number, choice in enumerate(question.choices, 1)]
        number = 0 if only_words(question) else await self._number(choices)
        if number is None:
            return Answer("")
        choice = question.choices[number]
        if not choice.feedback:
            return Answer(choice.key)
        self._surface.say("> ")
        return Answer(choice.key, (await self._lines.next() or "").strip())

    async def pick(self, title: str, rows: Sequence[PickerRow]) -> str | None:
        if not self.interactive:
            return None
        self._surface.write([[("", title)]])
        number = await self._number([f"{number}. {'  '.join(row.columns)}" for number, row in enumerate(rows, 1)])
        return None if number is None else rows[number].value

    async def _number(self, choices: Sequence[str]) -> int | None:
        """Which of `choices` is typed, from 0; None for anything else."""
        self._surface.say("".join(f"  {choice}\n" for choice in choices) + f"1–{len(choices)}: ")
        line = (await self._lines.next() or "").strip()
        return int(line) - 1 if line.isascii() and line.isdigit() and 0 < int(line) <= len(choices) else None

    async def edit(self, text: str) -> str | None:
        return None

    async def copy(self, text: str) -> bool:
        return False

    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        return False

    def show(self, shown: Shown) -> None:
        self._surface.write(shown_rows(shown, self._surface.cells))


async def run_plain(open_desk: Callable[[UI], Awaitable[Desk]], look: Look, first: str | None) -> int:
    """Read lines and answer them until there are no more; return the exit code."""
    surface, lines = PlainSurface(), Lines()
    try:
        ui = PlainUI(surface, lines)
        talk = Talk(surface, ui, await open_desk(ui), look)
    except CodeAgentError as error:
        surface.say(f"{error}\n{error.hint}".rstrip() + "\n")
        return error.exit_code
    talk.greet()
    try:
        async for line in _asked(surface, lines, first):
            if not await _handled(talk, line):
                break
    finally:
        await talk.close()
    return 0


async def _asked(surface: PlainSurface, lines: Lines, first: str | None) -> AsyncIterator[str]:
    if first:
        yield first
    while True:
        surface.say("> ")
        line = await lines.next()
        if line is None:
            return
        if line.strip():
            yield line.strip()


async def _handled(talk: Talk, line: str) -> bool:
    """Do what `line` asks; Ctrl-C interrupts the turn, or what else it set going."""
    task = asyncio.create_task(talk.handle(line))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: talk.interrupt() if talk.in_turn else task.cancel())
    try:
        await asyncio.wait({task})
        return task.cancelled() or task.result()
    finally:
        task.cancel()
        loop.remove_signal_handler(signal.SIGINT)
