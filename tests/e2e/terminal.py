"""A program in a real pseudo-terminal, read through a terminal emulator as a person would see it."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pexpect
import pyte

KEYS = {
    "Enter": "\r", "Esc": "\x1b", "Up": "\x1b[A", "Down": "\x1b[B", "Tab": "\t", "Shift-Tab": "\x1b[Z",
    "Alt-Enter": "\x1b\r", "Backspace": "\x7f",
    **{f"Ctrl-{letter}": chr(ord(letter) - 64) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
}  # fmt: skip


class Terminal:
    """Spawns `command`; `send` types, `wait_for` reads until a text is on the screen or in the scrollback."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 24,
        timeout: float = 20.0,
    ) -> None:
        self.timeout = timeout
        self.raw = b""
        """Everything the program wrote."""
        self._screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        inherited = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
        self._child = pexpect.spawn(
            command[0],
            list(command[1:]),
            cwd=str(cwd) if cwd else None,
            env={**inherited, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **(environ or {})},
            dimensions=(rows, columns),
            timeout=timeout,
        )
        self._child.delaybeforesend = None

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return int(self._child.pid)

    # ---- the program's side ----------------------------------------------------------------------------------------

    def send(self, text: str) -> None:
        """Type `text` as it is."""
        self._child.send(text)

    def press(self, *names: str) -> None:
        """Press keys by name."""
        for name in names:
            self._child.send(KEYS[name])

    def say(self, line: str) -> None:
        """Type a line and press Enter."""
        self.send(line + "\r")

    def paste(self, text: str) -> None:
        """Paste as terminals do it that know bracketed paste."""
        self._child.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self._child.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def pump(self, seconds: float = 0.05) -> bool:
        """Read what comes within `seconds`; False when the program has ended."""
        try:
            data = self._child.read_nonblocking(65_536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True

    # ---- the person's side -----------------------------------------------------------------------------------------

    @property
    def lines(self) -> list[str]:
        """The screen, without blanks at the ends of its lines."""
        return [_joined(line) for line in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.lines).rstrip()

    @property
    def scrolled(self) -> list[str]:
        """Lines that have left the screen, oldest first."""
        columns = self._screen.columns
        return [_joined("".join(line[column].data for column in range(columns))) for line in self._screen.history.top]

    @property
    def everything(self) -> str:
        """Scrollback and screen."""
        return "\n".join([*self.scrolled, *self.lines]).rstrip()

    def wait_for(self, text: str, *, gone: bool = False, timeout: float | None = None) -> str:
        """Read until `text` is on the screen or above it (or, `gone`, is not on the screen); return the screen.

        Raises:
            AssertionError: the time is up or the program has ended; the message shows the screen.
        """
        end = time.monotonic() + (timeout or self.timeout)
        while True:
            if (text not in self.text) if gone else (text in self.everything):
                return self.text
            alive = self.pump()
            if time.monotonic() > end or not alive:
                if (text not in self.text) if gone else (text in self.everything):
                    return self.text
                raise AssertionError(f"{text!r} {'still' if gone else 'never'} seen:\n{self.everything}")

    def settle(self, seconds: float = 0.3) -> str:
        """Read until nothing has come for `seconds`; return the screen."""
        while True:
            before = len(self.raw)
            if not self.pump(seconds) or len(self.raw) == before:
                return self.text

    def wait_exit(self) -> int:
        """Read to the end; return the exit code (128 + signal when killed)."""
        end = time.monotonic() + self.timeout
        while self.pump():
            assert time.monotonic() < end, f"it does not end:\n{self.everything}"
        self._child.close()
        return int(self._child.exitstatus if self._child.exitstatus is not None else 128 + self._child.signalstatus)

    def close(self) -> None:
        with contextlib.suppress(OSError, pexpect.ExceptionPexpect):
            self._child.close(force=True)


def _joined(line: str) -> str:
    """pyte keeps an empty cell behind each wide character in its buffer, and may show it as a blank of no width."""
    return re.sub(r"\s+$", "", line)
