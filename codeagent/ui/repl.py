"""The REPL: draws at once, opens the session behind the prompt, and hands over line after line.

What is needed for the first draw is imported here; the rest (`talk`, and what `open_desk` brings) loads while the
person types.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from codeagent.core.display import visible
from codeagent.core.errors import CodeAgentError
from codeagent.ui.clipboard import clipboard_picture
from codeagent.ui.completion import DraftCompleter
from codeagent.ui.files import FileIndex
from codeagent.ui.keys import KEYS, bind
from codeagent.ui.look import Look
from codeagent.ui.output import open_output
from codeagent.ui.rows import Row, fit, fit_path, width, wrap, wrap_text
from codeagent.ui.screen import Screen
from codeagent.ui.typed import open_history

if TYPE_CHECKING:
    from codeagent.commands.base import Desk
    from codeagent.core.ui import UI
    from codeagent.ui.talk import Talk

OpenDesk = Callable[["UI"], Awaitable["Desk"]]
T = TypeVar("T")
PATIENCE = 5.0
"""Seconds that a turn has for its clean-up when the person leaves."""
QUEUED_ROWS = 4
INTERRUPTED = 130
"""Exit code where a signal ended it: one for all of them, as in one shot."""


async def run_repl(open_desk: OpenDesk, look: Look, first: str | None = None) -> int:
    """Talk with the person until they leave; return the exit code.

    `open_desk` is called after the first draw. What is typed before it is done waits. `first` is said first.
    """
    if look.dumb or not (sys.stdin.isatty() and sys.stdout.isatty()):
        code: int = await importlib.import_module("codeagent.ui.plain").run_plain(open_desk, look, first)
        return code
    return await Repl(look).run(open_desk, first)


class Repl:
    """Which line is next, and what the keys set in motion (`keys.Actions`)."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._files = FileIndex(look.cwd)
        self._completer = DraftCompleter(self._files)
        self._screen = Screen(look, open_output(look), open_history(look.history), self._completer)
        self._screen.live = self._live
        self._talk: Talk | None = None
        self._waiting: deque[str] = deque()
        self._typed = asyncio.Event()
        self._line: asyncio.Task[bool] | None = None
        self._errands: set[asyncio.Task[Any]] = set()
        self._killed = 0
        """Exit code of a process that was told to end."""
        self._leaving: asyncio.Task[None] | None = None
        bind(self._screen, self)

    async def run(self, open_desk: OpenDesk, first: str | None) -> int:
        self._screen.write([self._head()])
        self._mind_signals()
        drawing = asyncio.create_task(self._screen.run())
        talking = asyncio.create_task(self._converse(open_desk, first))
        try:
            await asyncio.wait({drawing, talking}, return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and not drawing.done():
                self._screen.app.exit(result=0)
            await self._wind_up()
            await asyncio.wait({drawing})
        finally:
            for task in (talking, drawing, *self._errands):
                task.cancel()
            await asyncio.gather(talking, drawing, *self._errands, return_exceptions=True)
            if self._talk is not None:
                await self._talk.close()
        return self._exit_code(talking, drawing)

    async def _wind_up(self) -> None:
        """Let a turn that runs close its calls."""
        self._waiting.clear()
        if self._line is not None:
            self.interrupt()
            await asyncio.wait({self._line}, timeout=PATIENCE)

    def _mind_signals(self) -> None:
        """A closed terminal or a plain kill ends like a leave: nothing that was started is left running."""

        def leave() -> None:
            self._killed = INTERRUPTED
            self.leave()

        for number in (signal.SIGHUP, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leave)

    def _exit_code(self, talking: asyncio.Task[int], drawing: asyncio.Task[int]) -> int:
        """Raises what made one of the two fail, but for a terminal that went away."""
        for task in (talking, drawing):
            if not task.cancelled() and (error := task.exception()) and not isinstance(error, EOFError):
                raise error
        return self._killed if talking.cancelled() else talking.result()

    async def _converse(self, open_desk: OpenDesk, first: str | None) -> int:
        """Open the session, then do what the lines ask, one after the other."""
        await self._screen.drawn.wait()
        if first:
            self._waiting.appendleft(first)
        try:
            talk = await self._open(open_desk)
        except CodeAgentError as error:
            self._screen.write(_failure(error, self._screen.cells))
            return error.exit_code
        while True:
            if not await self._do(talk, await self._next()):
                talk.farewell()
                return 0

    async def _do(self, talk: Talk, line: str) -> bool:
        """What `line` asks, in a task of its own, so that an interrupt ends it and not the conversation."""
        task = self._line = self._start(talk.handle(line))
        try:
            await asyncio.wait({task})
            return task.cancelled() or task.result()
        finally:
            task.cancel()
            self._line = None
            self._files.forget()

    async def _open(self, open_desk: OpenDesk) -> Talk:
        talk = await asyncio.to_thread(importlib.import_module, "codeagent.ui.talk")
        terminal = await asyncio.to_thread(importlib.import_module, "codeagent.ui.terminal")
        dispatch = await asyncio.to_thread(importlib.import_module, "codeagent.commands.dispatch")
        ui = self._ui = terminal.TerminalUI(self._screen, self._look)
        self._completer.commands = await asyncio.to_thread(dispatch.catalog)
        made: Talk = talk.Talk(self._screen, ui, await open_desk(ui), self._look)
        made.greet()
        self._talk = made
        return made

    async def _next(self) -> str:
        while not self._waiting:
            self._typed.clear()
            await self._typed.wait()
        return self._waiting.popleft()

    # ---- keys ------------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return self._line is not None

    def send(self, text: str, *, later: bool) -> None:
        """Into the running turn; after it when it is a command or meant for later."""
        if later or self._talk is None or not self._talk.steer(text):
            self._waiting.append(text)
            self._typed.set()
        self._screen.changed()

    def interrupt(self) -> None:
        """Stop what runs; what was to follow it is the person's to send again."""
        if self._waiting:
            self._screen.restore("\n".join(self._waiting))
            self._waiting.clear()
        if self._talk is not None and self._talk.in_turn:
            self._talk.interrupt()
        elif self._line is not None:
            self._line.cancel()

    def hurry(self) -> None:
        if self._talk is not None:
            self._talk.hurry()

    def expand(self) -> None:
        if self._talk is not None:
            self._talk.expand()

    def fold_todos(self) -> None:
        if self._talk is not None:
            self._talk.fold_todos()

    def to_background(self) -> None:
        if self._talk is not None:
            self._talk.to_background()

    def cycle_mode(self) -> None:
        if self._talk is not None:
            self._talk.cycle_mode()

    def show_keys(self) -> None:
        cells = self._screen.cells
        column = max(width(key) for key, _ in KEYS) + 2
        rows: list[Row] = []
        for key, meaning in KEYS:
            head = [("class:accent", f"{key:<{column}}")]
            rows += wrap([("class:dim", meaning)], cells, head, [("", " " * min(column, cells // 2))])
        self._screen.write(rows)

    def edit_draft(self) -> None:
        if self._talk is not None:
            self._start(self._edit())

    def leave(self) -> None:
        """At once when asked twice; first a turn that runs is stopped and says so."""
        if self._leaving is None:
            self._leaving = self._start(self._leave())
        else:
            self._leaving.cancel()

    async def _leave(self) -> None:
        try:
            await self._wind_up()
            if self._talk is not None:
                self._talk.farewell()
        finally:
            if not self._screen.app.is_done:
                self._screen.app.exit(result=0)

    def _start(self, errand: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
        return task

    def paste_picture(self) -> None:
        self._start(self._paste_picture())

    async def _paste_picture(self) -> None:
        try:
            data = await clipboard_picture(self._look.environ)
            if self._talk is not None:
                self._screen.draft.insert_text(f"{self._talk.session.keep_picture(data)} ")
        except CodeAgentError as error:
            self._screen.write(_failure(error, self._screen.cells))

    async def _edit(self) -> None:
        text = await self._ui.edit(self._screen.draft.text)
        if text is not None:
            self._screen.draft.text = text
            self._screen.draft.cursor_position = len(text)

    # ---- what is shown ---------------------------------------------------------------------------------------------

    def _head(self) -> Row:
        cells = self._screen.cells
        told = " · ".join(part for part in (f"codeagent {self._look.version}".strip(), self._look.model) if part)
        return [
            (
                "class:dim",
                fit(f"{told} · {fit_path(visible(self._look.folder), max(cells - width(told) - 3, 12))}", cells),
            )
        ]

    def _live(self, cells: int) -> list[Row]:
        """What goes on, and what waits for its turn."""
        rows = self._talk.live(cells, asking=self._screen.dialog is not None) if self._talk is not None else []
        if self._talk is None and self._waiting:
            rows = [[("class:dim", "starting…")]]
        for text in [*(self._talk.session.queued if self._talk else ()), *self._waiting][:QUEUED_ROWS]:
            rows.append([("class:dim", fit(f"  ↳ {visible(text)}", cells))])
        return rows


def _failure(error: CodeAgentError, cells: int) -> list[Row]:
    """Why there is no session, and what helps; both may be several lines."""
    rows = wrap_text(visible(str(error)), cells, "class:bad")
    return rows + (wrap_text(visible(error.hint), cells, "class:dim") if error.hint else [])
