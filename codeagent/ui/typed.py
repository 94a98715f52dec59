"""What was typed in a project, kept in a file of its own, private to the user."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory


class TypedHistory(FileHistory):
    """A history file that nobody else can read and whose loss is no reason to stop."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        if not self._path.is_file():  # a pipe would never end
            return []
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.touch(mode=0o600)
            if not self._path.is_file():
                return
            super().store_string(string.encode("utf-8", "replace").decode())
        except OSError:
            return


def open_history(path: Path | None) -> History:
    return InMemoryHistory() if path is None else TypedHistory(path)
