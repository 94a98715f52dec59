"""What the sandbox refused, read in what a command printed: programs tell it in their own words, if at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codeagent.safety.places import real
from codeagent.safety.sandbox.policy import Policy

_NO = re.compile(
    r"permission denied|operation not permitted|read-only file system|invalid cross-device link"
    r"|\b(?:EACCES|EPERM|EROFS|EXDEV)\b|权限不够|不允许的操作|只读文件系统|无效的跨设备",
    re.IGNORECASE,
)
_NET = re.compile(
    r"could not resolve|name or service not known|temporary failure in name resolution|network is unreachable"
    r"|getaddrinfo|EAI_AGAIN|ENOTFOUND|failed to establish a new connection|could not connect|couldn't connect"
    r"|nodename nor servname|no such host|无法解析|网络不可达",
    re.IGNORECASE,
)
_SOCKET = re.compile(r"\bsocket\b|\bconnect|/dev/(?:tcp|udp)/", re.IGNORECASE)
_SIGNAL = re.compile(r"\bkill\b|\bpkill\b|\bptrace\b", re.IGNORECASE)
_RIGHTS = re.compile(r"no new privileges|sudo: effective uid is not 0|must be setuid root", re.IGNORECASE)
_PATH = re.compile(r"""'([^'\n]+)'|"([^"\n]+)"|‘([^’\n]+)’|“([^”\n]+)”|((?:[^\s'"‘’“”:,;()=]|:(?=[^\s:]))+)""")
_MOST_LINES, _MOST = 4_000, 3


@dataclass(frozen=True, slots=True)
class Refused:
    """Empty where nothing is known to have been refused."""

    written: tuple[Path, ...] = ()
    """What could not be written."""
    read: tuple[Path, ...] = ()
    """What could not be read."""
    other: tuple[str, ...] = ()
    unclear: bool = False
    """Something was denied, and it does not say what."""

    @property
    def known(self) -> bool:
        return bool(self.written or self.read or self.other)

    def __bool__(self) -> bool:
        return self.known or self.unclear

    def __str__(self) -> str:
        writing = [f"writing {path}" for path in self.written]
        return ", ".join([*writing, *(f"reading {path}" for path in self.read), *self.other])


def read_refusals(text: str, cwd: Path, policy: Policy) -> Refused:
    """What `policy` refused a command that printed `text`: only what would have been possible without it."""
    written: dict[Path, None] = {}
    read: dict[Path, None] = {}
    other: dict[str, None] = {}
    unclear = False
    for line in text.splitlines()[-_MOST_LINES:]:
        if not policy.network and (_NET.search(line) or (_NO.search(line) and _SOCKET.search(line))):
            other["the network"] = None
        elif _RIGHTS.search(line):
            other["gaining rights"] = None
        elif _NO.search(line):
            found = list(_paths(line, cwd))
            read |= dict.fromkeys(path for path in found if not policy.reads(path) and path.exists())
            written |= dict.fromkeys(path for path in found if policy.reads(path) and _kept(path, policy))
            if _SIGNAL.search(line):
                other["signals to processes that no command started"] = None
            elif not (policy.network or found) and _SOCKET.search(text):
                other["the network"] = None
            else:
                unclear = unclear or not found
    return Refused(tuple(written)[:_MOST], tuple(read)[:_MOST], tuple(other), unclear)


def _kept(path: Path, policy: Policy) -> bool:
    """Whether the policy alone keeps `path` from being written."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    return not policy.writes(path) and os.access(place, os.W_OK)


def _paths(line: str, cwd: Path) -> Iterator[Path]:
    """What in a line may be the path that was refused: a word with a slash in it, or one that exists."""
    for match in _PATH.finditer(line):
        word = next(filter(None, match.groups()), "").rstrip(".,")
        if not word or len(word) > 1_000 or "\0" in word or "://" in word:
            continue
        if word.startswith("/") or ("/" in word and not word.startswith("-")):
            yield real(word, str(cwd))
