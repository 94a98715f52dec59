"""The person at the terminal, as tools, permissions and commands may reach them."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path

from prompt_toolkit.application import in_terminal
from prompt_toolkit.enums import EditingMode

from codeagent.core.ui import Answer, Question, Row, Shown, Theme
from codeagent.ui.approve import Approval
from codeagent.ui.dialog import Picker
from codeagent.ui.look import Look
from codeagent.ui.render import preview_rows, shown_rows
from codeagent.ui.screen import Screen

CLIPBOARD = 74_000
"""Bytes that terminals take for the clipboard in one sequence."""


class TerminalUI:
    """`ports.UI` on the screen. Dialogs come one after the other."""

    interactive = True

    def __init__(self, screen: Screen, look: Look) -> None:
        self._screen = screen
        self._look = look
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        async with self._one_at_a_time:
            self._screen.call(question.title)
            answer: Answer = await self._screen.converse(Approval(question, preview_rows))
            return answer

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        async with self._one_at_a_time:
            picked: str | None = await self._screen.converse(Picker(title, rows))
            return picked

    async def edit(self, text: str) -> str | None:
        """What becomes of `text` in the person's editor; None when it failed or was left with an error."""
        async with self._one_at_a_time:
            with tempfile.TemporaryDirectory(prefix="codeagent-") as folder:
                path = Path(folder) / "message.md"
                path.write_text(text, "utf-8")
                async with in_terminal():
                    status = await self._run_editor(path)
                edited = path.read_text("utf-8", "replace").removesuffix("\n")
                # An editor ends the last line; that alone is no change.
                return None if status else text if edited == text.removesuffix("\n") else edited

    async def _run_editor(self, path: Path) -> int:
        try:
            editor = await asyncio.create_subprocess_exec(*self._look.editor, str(path), env=dict(self._look.environ))
        except OSError:
            return 127
        return await editor.wait()

    async def copy(self, text: str) -> bool:
        """To the clipboard, by the terminal's own sequence: it works over ssh, too. False when it is too long."""
        data = base64.b64encode(text.encode("utf-8", "replace")).decode()
        if len(data) > CLIPBOARD:
            return False
        self._screen.output.write_raw(f"\x1b]52;c;{data}\x07")
        self._screen.output.flush()
        return True

    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        if theme is not None:
            self._screen.dress(theme)
        if vim is not None:
            self._screen.app.editing_mode = EditingMode.VI if vim else EditingMode.EMACS
        return True

    def show(self, shown: Shown) -> None:
        self._screen.write(shown_rows(shown, self._screen.cells))
