"""What a path holds at one moment, and how that is read and told. A state names the content by its digest."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from codeagent.core.messages import encode_json

Kind = Literal["gone", "file", "link", "folder", "other"]
Keep = Callable[[bytes], str]
"""Store content, return its digest."""


@dataclass(frozen=True, slots=True)
class State:
    """`blob` is the digest of a file's content, "" when that is not kept (too large, unreadable, not yet);
    for a link it is where that leads. `mtime` is in nanoseconds."""

    kind: Kind = "gone"
    mode: int = 0
    blob: str = ""
    size: int = 0
    mtime: int = 0

    @property
    def kept(self) -> bool:
        """Whether it can be put back."""
        return self.kind in ("gone", "folder") or (self.kind in ("file", "link") and bool(self.blob))

    def same(self, other: State) -> bool:
        """Whether both hold the same, whenever it was written."""
        if (self.kind, self.mode) != (other.kind, other.mode):
            return False
        if self.kind == "file" and not (self.blob and other.blob):
            return (self.size, self.mtime) == (other.size, other.mtime)
        return self.blob == other.blob


GONE = State()


@dataclass(frozen=True, slots=True)
class Changed:
    """One path before and after; the path is absolute."""

    path: str
    before: State
    after: State


def read(path: str, keep: Keep, limit: int) -> State:
    """The state of `path`; the content of a file of at most `limit` bytes is handed to `keep`. Links are not followed.

    A file that changes while it is read, or that cannot be read, is one whose content is not kept.
    """
    try:
        looks = os.lstat(path)
    except (OSError, ValueError):
        return GONE
    mode = stat.S_IMODE(looks.st_mode)
    if stat.S_ISDIR(looks.st_mode):
        return State("folder", mode)
    if stat.S_ISLNK(looks.st_mode):
        try:
            return State("link", blob=os.readlink(path))
        except OSError:
            return GONE
    if not stat.S_ISREG(looks.st_mode):
        return State("other", mode)
    bare = State("file", mode, "", looks.st_size, looks.st_mtime_ns)
    if looks.st_size > limit:
        return bare
    try:
        return State("file", mode, keep(_whole(path)), looks.st_size, looks.st_mtime_ns)
    except OSError:
        return bare


def _whole(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        pieces = []
        while piece := os.read(handle, 1 << 20):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(handle)


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def to_json(changes: Iterable[Changed]) -> bytes:
    return encode_json([[one.path, _row(one.before), _row(one.after)] for one in changes])


def from_json(data: bytes) -> tuple[Changed, ...]:
    return tuple(Changed(path, State(*before), State(*after)) for path, before, after in json.loads(data))


def _row(state: State) -> list[str | int]:
    return [state.kind, state.mode, state.blob, state.size, state.mtime]


def joined(parts: Iterable[Sequence[Changed]]) -> tuple[tuple[Changed, ...], frozenset[str]]:
    """Several changes, oldest first, as one; and the paths that somebody else changed in between."""
    first: dict[str, State] = {}
    last: dict[str, State] = {}
    foreign: set[str] = set()
    for changes in parts:
        for one in changes:
            if one.path in last and not last[one.path].same(one.before):
                foreign.add(one.path)
            first.setdefault(one.path, one.before)
            last[one.path] = one.after
    whole = (Changed(path, before, last[path]) for path, before in first.items())
    return tuple(one for one in whole if not one.before.same(one.after)), frozenset(foreign)
