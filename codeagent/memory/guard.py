"""Files that are the person's alone: what changes them while something of ours runs does not hold by itself."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.memory.folder import put
from codeagent.memory.kept import Kept, Record, State


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a guarded file while it was watched."""

    path: Path
    before: State
    after: State


class Guard:
    """Watches files for a while. What cannot be read when that begins is not guarded.

    What counts is kept on disk, too: a program that is killed while it watches leaves the doubt to the next.
    """

    def __init__(self, paths: Iterable[Path], reads: Callable[[Path], bool], kept: Kept) -> None:
        """`reads` says whether a path leads where we read at all; what does not counts as no file."""
        self._paths = tuple(paths)
        self._reads = reads
        self._disk = kept
        self._kept: dict[Path, State] = {}
        self._judged: dict[Path, State] = {}
        """Changes that do not count and are not to be judged again."""

    @property
    def watching(self) -> bool:
        return bool(self._kept)

    def recall(self) -> None:
        """Take over what a program before or beside this one left in doubt."""
        for path in self._paths:
            if path in self._kept or (record := self._disk.get(path)) is None or not record.doubted:
                continue
            state = self._state(path)
            if state != record.state:
                self._kept[path] = record.state

    def watch(self) -> None:
        """From now on nobody but us writes there. What was changed before and not judged stays so."""
        self.recall()
        for path in self._paths:
            state = self._state(path)
            if (kept := self._kept.get(path)) is None and state is not None:
                kept = self._kept[path] = state
            if kept is not None:
                self._disk.put(path, Record(self._newest(path, kept, state), doubted=True))

    def rest(self) -> None:
        """What changes from now on is the person's doing; what has changed and does not count stays in doubt."""
        for path, kept in list(self._kept.items()):
            state = self._state(path)
            if state == self._newest(path, kept, state):
                self._disk.put(path, Record(state, doubted=False))
                del self._kept[path]
                self._judged.pop(path, None)

    def kept(self, path: Path) -> State | None:
        """What counts as the content of `path` while it is watched."""
        return self._kept.get(path)

    def accept(self, path: Path) -> None:
        """What stands at `path` now is wanted; other programs that watch it learn so."""
        self._judged.pop(path, None)
        if (state := self._state(path)) is None:
            return
        record = self._disk.get(path)
        if path in self._kept or record is not None:
            self._disk.put(path, Record(state, doubted=record is not None and record.doubted))
        if path in self._kept:
            self._kept[path] = state

    def changes(self) -> list[Change]:
        """What differs from what is kept and has not been judged."""
        return [change for change in self.pending() if self._judged.get(change.path) != change.after]

    def pending(self) -> list[Change]:
        """What differs from what is kept, and so does not count."""
        found = []
        for path, kept in list(self._kept.items()):
            after = self._state(path) or State(None)
            if after == kept:
                continue
            if after == self._newest(path, kept, after):
                self._kept[path] = after
            else:
                found.append(Change(path, kept, after))
        return found

    def pass_by(self, change: Change) -> None:
        """The change does not count, and is not to be judged again here; the next program judges it."""
        self._judged[change.path] = change.after

    def put_back(self, change: Change, top: Path) -> None:
        """Make the file what it was; what is in the way, up to the folder `top`, is moved aside.

        Raises:
            OSError: what was kept goes on to count.
        """
        path, before = change.path, change.before
        for folder in reversed(path.relative_to(top).parents[:-1]):
            self._clear_the_way(top / folder, path)
        if path.is_symlink() or path.is_file():
            if before.data is None or change.after.link != before.link:
                path.unlink()
        elif path.exists():
            _move_aside(path)
        if before.link is not None and not path.is_symlink():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(before.link)
        if before.data is not None:
            Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
            put(path, before.data)
        self.accept(path)

    def _clear_the_way(self, folder: Path, path: Path) -> None:
        """Move aside what stands where a folder above `path` should be: a file, or a link that leads elsewhere."""
        if os.path.lexists(folder) and not (folder.is_dir() and (self._reads(path) or not folder.is_symlink())):
            _move_aside(folder)

    def _newest(self, path: Path, kept: State, now: State | None) -> State:
        """`kept`, or `now` where another program has had the person's word for it meanwhile."""
        record = self._disk.get(path) if now != kept else None
        return record.state if record is not None and record.state == now else kept

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


def _move_aside(path: Path) -> None:
    path.rename(path.with_name(f"{path.name}.aside-{secrets.token_hex(4)}"))
