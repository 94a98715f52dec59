"""Putting paths into states they had: first what is to go, then what is to be there again, last the looks of folders.

A file is written aside and renamed, so that a kill leaves each path in the old state or in the new one, and doing it
all once more ends the same.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeagent.core.tools import Diff, Patch
from codeagent.safety.checkpoints.states import Changed, State

Content = Callable[[str], bytes | None]
"""Digest -> what it stands for; None when it is not kept any more."""
_SHOWN = 200_000
"""Bytes of a file that is shown as a diff."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A path that stays as it is, and why."""

    path: str
    why: str


def put(changes: Sequence[Changed], content: Content) -> tuple[list[Changed], list[Refused]]:
    """Bring each path from its `before` to its `after`; what was done, and what could not be. Blocks."""
    refused: list[Refused] = []
    possible: list[tuple[Changed, bytes | None]] = []
    for one in changes:
        data = content(one.after.blob) if one.after.kind == "file" and one.after.blob else None
        if one.after.kind == "other" or not one.after.kept:
            refused.append(Refused(one.path, "its content was not kept: too large, or not readable"))
        elif one.after.kind == "file" and data is None:
            refused.append(Refused(one.path, "its content is no longer kept"))
        else:
            possible.append((one, data))
    with _Opened() as opened:
        for step in (_take_away, _make):
            rest = []
            order = sorted(possible, key=lambda pair: pair[0].path, reverse=step is not _make)
            for one, data in order:
                try:
                    step(one, data, opened)
                    rest.append((one, data))
                except OSError as error:
                    refused.append(Refused(one.path, error.strerror or str(error)))
            possible = rest
    return sorted((one for one, _ in possible), key=lambda one: one.path), refused


class _Opened:
    """Folders that had to be made writable, which they are only as long as it takes."""

    def __init__(self) -> None:
        self.modes: dict[str, int] = {}

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        for folder, mode in sorted(self.modes.items(), reverse=True):
            with contextlib.suppress(OSError):
                os.chmod(folder, mode)

    def make_writable(self, folder: str) -> None:
        mode = stat.S_IMODE(os.lstat(folder).st_mode)
        if mode & 0o300 != 0o300:
            self.modes.setdefault(folder, mode)
            os.chmod(folder, mode | 0o300)


def _take_away(one: Changed, data: bytes | None, opened: _Opened) -> None:
    """What is of another kind than it shall be; files and links are renamed over."""
    try:
        folder = stat.S_ISDIR(os.lstat(one.path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    stays = one.after.kind == "folder" if folder else one.after.kind in ("file", "link")
    if stays:
        return
    opened.make_writable(os.path.dirname(one.path))
    if not folder:
        os.unlink(one.path)
        return
    opened.modes.pop(one.path, None)
    try:
        os.rmdir(one.path)
    except OSError:
        if one.after.kind != "gone":
            raise
        # Something else lies in it now, which is not ours to take away.


def _make(one: Changed, data: bytes | None, opened: _Opened) -> None:
    match one.after:
        case State("folder", mode):
            if not os.path.isdir(one.path):
                _parents(one.path, opened)
                os.mkdir(one.path)
            # Its own mode comes last: it may forbid what is to be put in it.
            opened.modes[one.path] = mode
            os.chmod(one.path, mode | 0o700)
        case State("link", _, target):
            _parents(one.path, opened)
            aside = _aside(one.path)
            os.symlink(target, aside)
            os.replace(aside, one.path)
        case State("file", mode, mtime=mtime):
            assert data is not None
            _parents(one.path, opened)
            _write(one.path, data, mode, mtime)


def _parents(path: str, opened: _Opened) -> None:
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    opened.make_writable(folder)


def _aside(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".codeagent-{secrets.token_hex(6)}.tmp")


def _write(path: str, data: bytes, mode: int, mtime: int) -> None:
    aside = _aside(path)
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            with contextlib.suppress(OSError):
                there = os.lstat(path)
                os.fchown(file.fileno(), there.st_uid, there.st_gid)
            os.fchmod(file.fileno(), mode)
        os.utime(aside, ns=(mtime, mtime))
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def preview(changes: Sequence[Changed], content: Content, shown: Callable[[str], str]) -> Patch:
    """The files among `changes` as a diff; `shown` names a path. What is no text, or long, has empty sides."""
    diffs = []
    for one in changes:
        if "folder" in (one.before.kind, one.after.kind) and {one.before.kind, one.after.kind} <= {"folder", "gone"}:
            continue
        before, after = (_text(state, content) for state in (one.before, one.after))
        if before is None and after is None:
            continue
        diffs.append(Diff(shown(one.path), before, after))
    return Patch(tuple(diffs))


def _text(state: State, content: Content) -> str | None:
    if state.kind == "link":
        return f"-> {state.blob}\n"
    if state.kind != "file":
        return None
    data = content(state.blob) if state.blob and state.size <= _SHOWN else None
    if data is None or b"\0" in data:
        return f"({state.size:,} bytes)\n"
    return data.decode("utf-8", "replace")
