"""What a command changed below some folders: their signatures are compared before and after it.

Only looking is done each time; contents are read where a signature is new. All of it blocks.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Sequence

from codeagent.safety.checkpoints.states import GONE, State, read
from codeagent.safety.checkpoints.store import Listing, Sig, Store

MOST = 200_000
"""Files of a tree that is looked at; a larger one (somebody's home) is left alone."""
_UNSEEN = {".git"}
"""Folders that are git's own."""
_HEAVY = ("/node_modules/", "/.venv/", "/venv/", "/target/", "/dist/", "/build/", "/__pycache__/", "/.cache/")
"""Read last where time is short: programs make these anew."""
_RACY = 20_000_000
"""Nanoseconds within which a second change of a file may leave the same time stamps."""
_CHUNK = 256
"""Files kept by one transaction: others wait that long at most."""


class TooLarge(Exception):
    """There are more files than are looked at."""


class Tree:
    """The folders below `roots` as they were seen last."""

    def __init__(
        self,
        roots: Iterable[str],
        store: Store,
        *,
        skip: Iterable[str] = (),
        limit: int,
        room: int,
        most: int = MOST,
    ) -> None:
        """`skip`: folders that are not looked at; `limit`: bytes of a file that is kept; `room`: of all."""
        tops = [os.path.realpath(root) for root in roots]
        self._roots = [top for top in tops if not any(top != other and _below(top, other) for other in tops)]
        self._store = store
        self._skip = frozenset(map(os.path.realpath, skip))
        self._limit, self._room, self._most = limit, room, most
        self._seen: dict[str, dict[str, Sig]] | None = None
        self._kept: dict[str, dict[str, str]] = {}
        self._lacking: set[str] = set()
        """Files whose content is not kept and could be."""
        self._racy: set[str] = set()
        self._dirty: set[str] = set()
        self._held = 0

    @property
    def lacking(self) -> int:
        """Files that nothing could bring back yet."""
        return len(self._lacking)

    def covers(self, path: str) -> bool:
        """Whether a change of `path` is seen."""
        return any(_below(path, root) for root in self._roots) and not _UNSEEN & set(path.split("/"))

    def look(self) -> dict[str, State]:
        """What has changed since the last look, with the states before it; at first nothing is known to have changed
        but what the store remembers of an earlier session.

        Raises:
            TooLarge: there are too many files; nothing was changed.
            StoreError: the store cannot be read.
        """
        fresh = self._scan()
        first = self._seen is None
        seen = self._load() if self._seen is None else self._seen
        self._seen = fresh
        before: dict[str, State] = {}
        for folder in {*seen, *fresh}:
            old, new = seen.get(folder, {}), fresh.get(folder, {})
            if old != new:
                before |= self._compared(folder, old, new)
            elif first:
                self._want(folder, new)
        for path in self._racy.difference(before):
            before |= self._again(path)
        return before

    def state(self, path: str) -> State:
        """As it was seen last."""
        folder, _, name = path.rpartition("/")
        sig = (self._seen or {}).get(folder, {}).get(name)
        return GONE if sig is None else _state(sig, self._kept.get(folder, {}).get(name, ""))

    def keep(self, seconds: float, only: Iterable[str] | None = None) -> None:
        """Read what is not kept yet, for about so long; `only` these paths and what lies below them."""
        wanted = self._lacking if only is None else self._among(only)
        ends = time.monotonic() + seconds
        todo = sorted(wanted, key=lambda path: (any(heavy in path for heavy in _HEAVY), path))
        for start in range(0, len(todo), _CHUNK):
            if time.monotonic() >= ends:
                return
            with self._store:
                for path in todo[start : start + _CHUNK]:
                    self._keep(path)

    def flush(self) -> None:
        """Write down what was seen, within the caller's transaction."""
        listings: dict[str, Listing | None] = {}
        for folder in self._dirty:
            seen, kept = (self._seen or {}).get(folder), self._kept.get(folder, {})
            # What is in doubt is read again by the next session.
            listings[folder] = (
                None
                if seen is None
                else {
                    name: (sig, "" if f"{folder}/{name}" in self._racy else kept.get(name, ""))
                    for name, sig in seen.items()
                }
            )
        self._store.set_folders(listings)
        self._dirty.clear()

    # ---- inside ----------------------------------------------------------------------------------------------------

    def _load(self) -> dict[str, dict[str, Sig]]:
        seen: dict[str, dict[str, Sig]] = {}
        for root in self._roots:
            for folder, listing in self._store.folders(root).items():
                seen[folder] = {name: sig for name, (sig, _) in listing.items()}
                self._kept[folder] = {name: kept for name, (_, kept) in listing.items() if kept}
                self._held += sum(sig[1] for sig, kept in listing.values() if kept)
        return seen

    def _compared(self, folder: str, old: dict[str, Sig], new: dict[str, Sig]) -> dict[str, State]:
        kept = self._kept.setdefault(folder, {})
        self._dirty.add(folder)
        before: dict[str, State] = {}
        for name in {*old, *new}:
            was, now, path = old.get(name), new.get(name), f"{folder}/{name}"
            if was == now:
                continue
            before[path] = GONE if was is None else _state(was, kept.get(name, ""))
            if was is not None and kept.pop(name, None) is not None:
                self._held -= was[1]
            self._lacking.discard(path)
            self._racy.discard(path)
        self._want(folder, new)
        return before

    def _want(self, folder: str, names: dict[str, Sig]) -> None:
        kept = self._kept.get(folder, {})
        for name, (mode, size, *_) in names.items():
            if name not in kept and (stat.S_ISLNK(mode) or (stat.S_ISREG(mode) and size <= self._limit)):
                self._lacking.add(f"{folder}/{name}")

    def _again(self, path: str) -> dict[str, State]:
        """A file whose time stamps tell nothing: its content does."""
        folder, _, name = path.rpartition("/")
        was = self.state(path)
        self._racy.discard(path)
        with self._store:
            self._keep(path)
        return {} if self._kept.get(folder, {}).get(name, "") == was.blob else {path: was}

    def _keep(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        self._lacking.discard(path)
        names = (self._seen or {}).get(folder)
        try:
            looks = os.lstat(path)
        except OSError:
            return  # gone again: the next look tells
        if names is None or self._held + looks.st_size > self._room:
            return
        state = read(path, self._store.put, self._limit)
        if state.kind not in ("file", "link"):
            return
        names[name] = _sig(looks)
        self._dirty.add(folder)
        if state.blob:
            self._held += looks.st_size
            self._kept.setdefault(folder, {})[name] = state.blob
        if looks.st_ctime_ns > time.time_ns() - _RACY:
            self._racy.add(path)

    def _among(self, paths: Iterable[str]) -> set[str]:
        exact = set(paths)
        return {path for path in self._lacking if path in exact or any(_below(path, one) for one in exact)}

    def _scan(self) -> dict[str, dict[str, Sig]]:
        found: dict[str, dict[str, Sig]] = {}
        left = self._most
        waiting = list(self._roots)
        while waiting:
            folder = waiting.pop()
            names, below = _listed(folder, self._skip)
            found[folder] = names
            waiting += below
            left -= len(names)
            if left < 0:
                raise TooLarge
        return found


def _listed(folder: str, skip: frozenset[str]) -> tuple[dict[str, Sig], Sequence[str]]:
    """(name -> signature, folders in it); what vanishes meanwhile or cannot be read is not there."""
    names: dict[str, Sig] = {}
    below: list[str] = []
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return names, below
    look = os.stat
    try:
        device = os.fstat(handle).st_dev
        for name in os.listdir(handle):
            try:
                looks = look(name, dir_fd=handle, follow_symlinks=False)
            except OSError:
                continue
            if looks[0] & 0o170000 != 0o040000:
                names[name] = (looks[0], looks[6], looks.st_mtime_ns, looks.st_ctime_ns, looks[1])
            elif name not in _UNSEEN and looks[2] == device and f"{folder}/{name}" not in skip:
                names[name] = (looks[0], 0, 0, 0, 0)
                below.append(f"{folder}/{name}")
    except OSError:
        return names, below
    finally:
        os.close(handle)
    return names, below


def _sig(looks: os.stat_result) -> Sig:
    return (looks.st_mode, looks.st_size, looks.st_mtime_ns, looks.st_ctime_ns, looks.st_ino)


def _state(sig: Sig, kept: str) -> State:
    mode, size, mtime, *_ = sig
    if stat.S_ISDIR(mode):
        return State("folder", stat.S_IMODE(mode))
    if stat.S_ISLNK(mode):
        return State("link", blob=kept)
    if not stat.S_ISREG(mode):
        return State("other", stat.S_IMODE(mode))
    return State("file", stat.S_IMODE(mode), kept, size, mtime)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
