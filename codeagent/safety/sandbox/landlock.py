"""Landlock and seccomp: commands are started from a thread that has given up what they may not do."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from codeagent.safety.places import inside
from codeagent.safety.sandbox import filters, kernel
from codeagent.safety.sandbox.policy import Policy
from codeagent.safety.sandbox.threads import Bound

T = TypeVar("T")

OLDEST = 2
"""Before this version of Landlock nothing can be moved from one folder to another."""


class Landlock:
    """Implements `sandbox.Means`.

    Signals and abstract sockets stay within all that one `Landlock` started, whatever the policy was at the time.

    Raises:
        OSError: the kernel cannot do it.
    """

    def __init__(self) -> None:
        self._version = kernel.version()
        if self._version < OLDEST:
            raise OSError("This kernel has no Landlock.")
        self._machine = filters.MACHINES.get(platform.machine())
        self._outer: Bound | None = Bound(self._first)
        self._inner: Bound | None = None
        self._policy: Policy | None = None
        self._watched: tuple[str, ...] = ()
        self._holds: object = None
        """For which policy, and which state of the disk, the inner thread is bound."""

    @property
    def name(self) -> str:
        return f"Landlock {self._version}"

    def launch(self, policy: Policy, argv: Sequence[str], start: Callable[[Sequence[str]], T]) -> T:
        if policy is not self._policy:
            self._policy, self._watched = policy, _watched(policy)
        now = (id(policy), [_stat(path) for path in self._watched])
        if self._inner is None or self._holds != now:
            self._end(self._inner)
            if self._outer is None:
                self._outer = Bound(self._first)
            self._inner = Bound(lambda: self._confine(policy), self._outer)
            self._holds = now
        return self._inner.run(lambda: start(argv))

    def close(self) -> None:
        """End the threads; what they started goes on."""
        self._end(self._inner)
        self._end(self._outer)
        self._inner = self._outer = None

    def _end(self, thread: Bound | None) -> None:
        if thread is not None:
            thread.close()

    def _first(self) -> None:
        kernel.give_nothing_new()
        kernel.scope(self._version)

    def _confine(self, policy: Policy) -> None:
        handled = kernel.changes(self._version, reads=bool(policy.hidden))
        kernel.restrict(self._version, handled, _allowed(policy), network=policy.network)
        if self._machine is not None:
            truncate = self._version >= 3
            kernel.filter_calls(
                filters.program(self._machine, network=policy.network, local=policy.local, truncate=truncate)
            )


def _allowed(policy: Policy) -> Iterator[tuple[Path, int]]:
    for path in policy.writable:
        rights = kernel.CHANGE | kernel.READ_FILE
        yield path, rights if path.is_dir() else rights & kernel.FILES
    for path in policy.devices:
        yield path, kernel.WRITE_FILE | kernel.READ_FILE | kernel.IOCTL
    if policy.hidden:
        yield from ((path, kernel.READ_FILE) for path in (*_readable(Path("/"), policy.hidden), *policy.shown))


def _readable(folder: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """What below `folder` is not hidden, in as few pieces as can be: a right once given cannot be taken back below."""
    if folder in hidden:
        return
    if not any(path.is_relative_to(folder) for path in hidden):
        yield folder
        return
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 (names alone are wanted)
    except OSError:
        return
    for name in names:
        path = folder / name
        if not path.is_symlink():  # what it leads to has a name of its own
            yield from _readable(path, hidden)


def _watched(policy: Policy) -> tuple[str, ...]:
    """What the rules depend on beside the policy: which folders the names stand for, and, by their dates, what stands
    beside those that are hidden."""
    beside = {parent for path in policy.hidden for parent in path.parents if not inside(parent, policy.writable)}
    return (*(f"{path}/." for path in sorted(beside)), *map(str, (*policy.writable, *policy.devices)))


def _stat(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 (for every command)
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_mtime_ns if path.endswith("/.") else 0)
