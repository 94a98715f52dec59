"""The conversation behind the screen: what a typed line leads to. Loaded after the first draw."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Sequence, Set

from codeagent.agent.session import Session
from codeagent.commands.base import CommandContext, Desk, Done, Draft, Exit, Play, Send, Switch
from codeagent.commands.dispatch import dispatch, is_command
from codeagent.core.display import visible
from codeagent.core.entries import Entry
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Compacted, Event, Notice, Replied, ToolFinished
from codeagent.core.messages import INTERRUPTED, AssistantMessage, ToolMessage, UserMessage
from codeagent.core.ui import UI
from codeagent.ui.look import Look
from codeagent.ui.paper import markdown_rows
from codeagent.ui.render import error_rows, expanded_rows, money, said_rows, shown_rows, tokens, tool_line
from codeagent.ui.rows import Row, fit, wrap
from codeagent.ui.status import Bar, branch
from codeagent.ui.surface import Surface
from codeagent.ui.todos import todo_rows
from codeagent.ui.turn_view import TurnView

RESUMED_TURNS = 2
"""Turns of a resumed conversation that are shown again."""
_SHELL = re.compile(r"(!{1,2})(?!!)(\s*\S.*)", re.DOTALL)
"""`!command`, which the model is shown, and `!!command`, which it is not."""
_log = logging.getLogger(__name__)


class Talk:
    """One conversation after another, on one surface."""

    def __init__(self, surface: Surface, ui: UI, desk: Desk, look: Look) -> None:
        self.session: Session = desk.session
        self._surface = surface
        self._ui = ui
        self._desk = desk
        self._look = look
        self._view: TurnView | None = None
        self._last: ToolFinished | None = None
        self._steerable = False
        self._folded = False
        """The todo list is shown in one line."""
        self._branch = branch(look.cwd)

    @property
    def in_turn(self) -> bool:
        """Whether events are being shown, which can be stopped."""
        return self._view is not None

    def steer(self, text: str) -> bool:
        """Put a word into the running turn. False when there is none, or when it is a command."""
        if self._view is None or not self._steerable or is_command(text) or _SHELL.match(text):
            return False
        self.session.steer(text)
        return True

    def live(self, cells: int, *, asking: bool = False) -> list[Row]:
        """What goes on, and under it the steps of the work; while the person is asked something, no steps."""
        rows = self._view.live(cells, asking=asking) if self._view else []
        return rows if asking else [*rows, *todo_rows(self.session.todos, cells, folded=self._folded)]

    def greet(self) -> None:
        """Say what the person should know, and how far an earlier conversation had come."""
        self._news()
        self._recall()
        self.refresh()

    def farewell(self) -> None:
        """How to come back."""
        if self.session.history.turn:
            told = f"To go on with this session: codeagent --resume {self.session.id}"
            self._surface.write(wrap([("class:dim", told)], self._surface.cells))

    async def close(self) -> None:
        """Leave the session in good order."""
        await self.session.aclose()

    def _news(self) -> None:
        for notice in self._desk.notices:
            self._surface.write(shown_rows(notice, self._surface.cells), "notes")

    def refresh(self) -> None:
        """Bring the status line up to date."""
        status = self.session.status()
        used = status.prompt_tokens + status.completion_tokens
        self._surface.bar = Bar(
            model=status.model,
            context=status.context_tokens / status.window if status.window else None,
            full=status.trigger / status.window if status.window else 1.0,
            tokens=f"{tokens(used)} tokens" if used else "",
            money=money(status.cost_usd) if status.cost_usd else "",
            mode=status.mode,
            branch=self._branch,
        )
        self._surface.changed()

    # ---- what a line leads to --------------------------------------------------------------------------------------

    async def handle(self, line: str) -> bool:
        """Do what `line` asks. False when it asks to leave."""
        self._surface.write(said_rows(line, self._surface.cells), "said")
        try:
            return await self._handle(line)
        except CodeAgentError as error:
            self._surface.write(error_rows(error, self._surface.cells))
        except Exception as error:
            _log.info("a line could not be handled", exc_info=True)
            told = CodeAgentError("This failed unexpectedly: {kind}: {error}", kind=type(error).__name__, error=error)
            self._surface.write(error_rows(told, self._surface.cells))
        finally:
            self._news()
            self._branch = branch(self._look.cwd)
            self.refresh()
        return True

    async def _handle(self, line: str) -> bool:
        if typed := _SHELL.match(line):
            await self._play(self.session.run_shell(typed[2].strip(), tell=typed[1] == "!"))
            return True
        match await dispatch(line, CommandContext(self.session, self._desk, self._ui)):
            case Exit():
                return False
            case Switch(session):
                self.session = session
                self._recall()
            case Send(text):
                self._steerable = True
                await self._play(self.session.run_turn(text))
            case Play(events):
                await self._play(events)
            case Draft(text):
                self._surface.restore(text)
            case Done():
                pass
        return True

    async def _play(self, events: AsyncIterator[Event]) -> None:
        """Show events until they end."""
        view = self._view = TurnView(self._surface, lambda: self.session.status().cost_usd)
        self._surface.animate(True)
        try:
            async for event in events:
                view.take(event)
                if isinstance(event, Replied | Compacted):
                    self.refresh()
        finally:
            self._surface.animate(False)
            self._surface.call("the turn is over")
            self._last = view.last or self._last
            self._view, self._steerable = None, False
            self._give_back()

    def _give_back(self) -> None:
        """Words that were meant for the turn and came too late for it."""
        if left := self.session.agent.steering.take():
            self._surface.restore("\n".join(left))

    # ---- what keys do ----------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        if self._view is not None:
            self._view.stopping()
        self.session.interrupt()
        self._surface.changed()

    def hurry(self) -> None:
        """Wait no longer before a request is made again."""
        if self._view is not None and self._view.hurry():
            self._surface.changed()

    def to_background(self) -> None:
        if not self.session.to_background():
            self._surface.write(
                shown_rows(Notice("No command is running that could go to the background."), self._surface.cells)
            )

    def expand(self) -> None:
        """The newest tool output, whole."""
        last = (self._view.last if self._view else None) or self._last
        if last is not None:
            self._surface.write(expanded_rows(last, self._surface.cells))

    def fold_todos(self) -> None:
        self._folded = not self._folded
        self._surface.changed()

    def cycle_mode(self) -> None:
        self.session.cycle_mode()
        self.refresh()

    # ---- an earlier conversation -----------------------------------------------------------------------------------

    def _recall(self) -> None:
        """The last turns of a conversation that goes on."""
        entries = self.session.history.entries
        if not entries:
            return
        cells = self._surface.cells
        name = visible(self.session.history.name or self.session.id)
        turns = self.session.history.turn
        told = f"Resumed {name} · {turns} turn{'s' * (turns != 1)}"
        self._surface.write(wrap([("class:dim", told)], cells), "notes")
        first = turns - RESUMED_TURNS
        if first > 0:
            left = f"… {first} earlier turn{'s' * (first != 1)}"
            self._surface.write([[("class:dim", fit(left, cells))]], "notes")
        ended = {
            entry.message.call_id
            for entry in entries
            # What was printed or done until then may stand before the word.
            if isinstance(entry.message, ToolMessage) and not entry.message.text.endswith(INTERRUPTED)
        }
        for entry in entries:
            if entry.turn > first and entry.origin != "summary":
                self._surface.write(*self._entry_rows(entry, ended, cells))

    def _entry_rows(self, entry: Entry, ended: Set[str], cells: int) -> tuple[Sequence[Row], str]:
        """(rows, group) of one message that was said earlier; calls that are not in `ended` were interrupted."""
        match entry.message:
            case UserMessage() if entry.said is not None:
                return said_rows(entry.said, cells), ""
            case AssistantMessage(text, calls):
                lines = [
                    tool_line(("class:dim", "● "), self.session.title(call), "", cells)
                    if call.id in ended
                    else tool_line(("class:bad", "✗ "), self.session.title(call), "interrupted", cells)
                    for call in calls
                ]
                answer = markdown_rows(text, cells)
                return [*answer, *([[]] if answer and lines else []), *lines], "" if answer else "tools"
        return [], ""
