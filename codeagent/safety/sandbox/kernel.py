"""The kernel's calls that confine the thread that makes them, and whatever it starts from then on."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Landlock's calls have the same numbers on all machines."""
_VERSION = 1
_PATH_BENEATH = 1

WRITE_FILE, READ_FILE = 1 << 1, 1 << 2
_REMOVE = 1 << 4 | 1 << 5
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12
"""Folders, files, sockets, pipes, links."""
_MAKE_DEVICE = 1 << 6 | 1 << 11
_REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
_SINCE = {_REFER: 2, TRUNCATE: 3, IOCTL: 5}
_TCP = 1 << 0 | 1 << 1
"""Bind and connect."""
_SCOPES = 1 << 0 | 1 << 1
"""Abstract sockets and signals."""

CHANGE = WRITE_FILE | _REMOVE | _MAKE | _REFER | TRUNCATE
"""What a folder that may be written allows: all but devices, which could be the disk itself."""
FILES = WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
"""What means something for what is no folder."""

_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 24, 38, 2
_CAPABILITIES = (2, 9, 12, 16, 17, 19, 21, 22, 25, 27, 38, 39, 40)
"""Of root: files by handle, immutable files, the network's set-up, kernel modules, raw devices, other programs' memory,
mounts and the like, reboot, the clock, device files, and what has been split off from these."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def version() -> int:
    """Version of the kernel's Landlock; 0 where there is none."""
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION)))


def changes(version: int, *, reads: bool) -> int:
    """What of files is refused unless it is allowed; `reads` includes reading them."""
    known = [right for right, since in _SINCE.items() if version >= since]
    return WRITE_FILE | _REMOVE | _MAKE | _MAKE_DEVICE | sum(known) | (READ_FILE if reads else 0)


def give_nothing_new() -> None:
    """No program that is started gains rights, as by set-user-id; of root's own those go that reach the machine."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in _CAPABILITIES:
        with suppress(OSError):  # who is not root has none
            _prctl(_PR_CAPBSET_DROP, capability)


def scope(version: int) -> None:
    """Signals and abstract sockets reach only what the thread started, where the kernel can."""
    if version >= 6:
        _enforce(_ruleset(version, _Rules(0, 0, _SCOPES)))


def restrict(version: int, handled: int, allowed: Iterable[tuple[Path, int]], *, network: bool) -> None:
    """Of the rights `handled` only those that are `allowed` are left, each for a path and all below.

    Raises:
        OSError: the kernel will not.
    """
    rules = _ruleset(version, _Rules(handled, 0 if network or version < 4 else _TCP, 0))
    try:
        for path, rights in allowed:
            with suppress(FileNotFoundError, PermissionError, NotADirectoryError):  # gone by now, or not ours
                _allow(rules, path, rights & handled)
    except BaseException:
        os.close(rules)
        raise
    _enforce(rules)


def filter_calls(program: bytes) -> None:
    """Let `program` judge every system call from now on. Raises OSError."""
    if program:
        steps = _Program(len(program) // 8, program)
        _prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(steps))


def _ruleset(version: int, rules: _Rules) -> int:
    size = 8 if version < 4 else 16 if version < 6 else 24
    return _done(_libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0))


def _allow(rules: int, path: Path, rights: int) -> None:
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if rights:
            beneath = _Beneath(rights, handle)
            _done(_libc.syscall(_ADD, rules, _PATH_BENEATH, ctypes.byref(beneath), 0))
    finally:
        os.close(handle)


def _enforce(rules: int) -> None:
    try:
        _done(_libc.syscall(_RESTRICT, rules, 0))
    finally:
        os.close(rules)


def _prctl(option: int, *arguments: object) -> None:
    given = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    _done(_libc.prctl(option, *given, *[ctypes.c_ulong(0)] * (4 - len(given))))


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
