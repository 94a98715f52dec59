"""A filter of system calls, as the kernel reads it: a little program over the call's number and arguments."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""Go on; fail with EPERM."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
"""Where in what the kernel shows of a call its number, its architecture and the low half of its first argument lie."""
_AF_UNIX = 1
_IO_URING_SETUP = 425
_X32 = 0x40000000
"""Numbers from here on are the same calls under another name."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the kernel calls a machine, and its numbers of the calls that differ."""

    audit: int
    socket: int
    truncate: int


MACHINES = {
    "x86_64": Machine(0xC000003E, socket=41, truncate=76),
    "aarch64": Machine(0xC00000B7, socket=198, truncate=45),
    "riscv64": Machine(0xC00000F3, socket=198, truncate=45),
    "loongarch64": Machine(0xC0000102, socket=198, truncate=45),
}


def program(machine: Machine, *, network: bool, local: bool, truncate: bool) -> bytes:
    """Instructions of 8 bytes that refuse what is False: sockets to other machines, sockets in the file system,
    and truncation by a path, which the oldest Landlock does not know."""
    rules: list[tuple[int, bytes]] = []
    if not network:
        rules.append((_IO_URING_SETUP, _refuse()))  # it opens sockets by no call of their own
        unix = _step(_LOAD, _FIRST) + _step(_EQUAL, _AF_UNIX, 1, 0) + _refuse() if local else b""
        rules.append((machine.socket, unix + (_allow() if local else _refuse())))
    if not truncate:
        rules.append((machine.truncate, _refuse()))
    if not rules:
        return b""
    steps = _step(_LOAD, _ARCHITECTURE) + _step(_EQUAL, machine.audit, 1, 0) + _refuse() + _step(_LOAD, _NUMBER)
    if machine.audit == MACHINES["x86_64"].audit:
        steps += _step(_AT_LEAST, _X32, 0, 1) + _refuse()
    for number, then in rules:
        steps += _step(_EQUAL, number, 0, len(then) // 8) + then
    return steps + _allow()


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def _refuse() -> bytes:
    return _step(_RETURN, _REFUSE)


def _allow() -> bytes:
    return _step(_RETURN, _ALLOW)
