"""Files that are the person's alone: what changes them while something of ours runs does not hold by itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.memory.folder import put


@dataclass(frozen=True, slots=True)
class State:
    """What is at a path: bytes (None for no file), and where it leads when it is a link."""

    data: bytes | None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a guarded file while it was watched."""

    path: Path
    before: State
    after: State


class Guard:
    """Watches files for a while. What cannot be read when that begins is not guarded."""

    def __init__(self, paths: Iterable[Path], reads: Callable[[Path], bool]) -> None:
        """`reads` says whether a path leads where we read at all; what does not counts as no file."""
        self._paths = tuple(paths)
        self._reads = reads
        self._kept: dict[Path, State] = {}
        self._judged: dict[Path, State] = {}
        """Changes that were refused and could not be put back."""

    @property
    def watching(self) -> bool:
        return bool(self._kept)

    def watch(self) -> None:
        """From now on nobody but us writes there. What was refused before and still stands stays refused."""
        for path in self._paths:
            if path in self._kept and self._judged.get(path) == self._state(path):
                continue
            self._kept.pop(path, None)
            if state := self._state(path):
                self._kept[path] = state

    def rest(self) -> None:
        """What changes from now on is the person's doing."""
        self._kept = {path: state for path, state in self._kept.items() if path in self._judged}

    def kept(self, path: Path) -> State | None:
        """What counts as the content of `path` while it is watched."""
        return self._kept.get(path)

    def accept(self, path: Path) -> None:
        """What stands at `path` now is wanted."""
        self._judged.pop(path, None)
        if path in self._kept and (state := self._state(path)):
            self._kept[path] = state

    def changes(self) -> list[Change]:
        """What differs from what is kept and has not been judged."""
        found = ((path, state, self._state(path) or State(None)) for path, state in self._kept.items())
        return [Change(*each) for each in found if each[1] != each[2] and self._judged.get(each[0]) != each[2]]

    def refuse(self, change: Change) -> None:
        """The change does not count, and is not to be judged again."""
        self._judged[change.path] = change.after

    def put_back(self, change: Change) -> None:
        """Make the file what it was. Raises OSError; what was kept then goes on to count."""
        path, before = change.path, change.before
        if path.is_symlink() or path.is_file():
            if before.data is None or change.after.link != before.link:
                path.unlink()
        elif path.exists():
            path.rmdir()
        if before.link is not None and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(before.link)
        if before.data is not None:
            Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
            put(path, before.data)
        self.accept(path)

    def _state(self, path: Path) -> State | None:
        """None for what is there and cannot be read."""
        link = None
        with suppress(OSError):
            link = str(path.readlink())
        try:
            if not self._reads(path):
                return State(None, link)
            return State(path.read_bytes(), link) if path.is_file() or not path.exists() else None
        except (FileNotFoundError, NotADirectoryError):
            return State(None, link)
        except OSError:
            return None
