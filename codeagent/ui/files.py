"""The project's files for completion after "@": listed once, searched as one types."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

MOST = 50_000
"""Paths that are listed at most."""
FOUND = 40
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})

# First letters of the readings of the characters that GB 2312 sorts by reading, as (letter, first code).
_READINGS = (
    ("a", 0xB0A1), ("b", 0xB0C5), ("c", 0xB2C1), ("d", 0xB4EE), ("e", 0xB6EA), ("f", 0xB7A2), ("g", 0xB8C1),
    ("h", 0xB9FE), ("j", 0xBBF7), ("k", 0xBFA6), ("l", 0xC0AC), ("m", 0xC2E8), ("n", 0xC4C3), ("o", 0xC5B6),
    ("p", 0xC5BE), ("q", 0xC6DA), ("r", 0xC8BB), ("s", 0xC8F6), ("t", 0xCBFA), ("w", 0xCDDA), ("x", 0xCEF4),
    ("y", 0xD1B9), ("z", 0xD4D1), ("", 0xD7FA),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Path:
    path: str
    key: str
    """Lower case, followed by the initials of its Chinese characters where it has any."""


class FileIndex:
    """Paths below a folder, relative to it; folders end in a slash."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: list[_Path] | None = None
        self._listing = asyncio.Lock()

    def forget(self) -> None:
        """Files may have come and gone: list them anew when next asked."""
        self._paths = None

    async def search(self, query: str) -> list[str]:
        """The best matches for `query`: its letters in this order, the closer together and to the name the better."""
        async with self._listing:
            if self._paths is None:
                self._paths = await asyncio.to_thread(_list, self._root)
        return await asyncio.to_thread(_search, self._paths, query)


def _search(paths: list[_Path], query: str) -> list[str]:
    query = query.casefold()
    if not query:
        return [entry.path for entry in sorted(paths, key=lambda entry: (entry.path.count("/"), entry.key))[:FOUND]]
    loose = re.compile(".*?".join(map(re.escape, query)))
    ranked: list[tuple[int, int, str]] = []
    for entry in paths:
        if query in entry.key:
            name = entry.key.rstrip("/").rpartition("/")[2]
            rank = 0 if name.startswith(query) else 1 if query in name else 2
        elif loose.search(entry.key):
            rank = 3
        else:
            continue
        ranked.append((rank, len(entry.path), entry.path))
    return [path for _, _, path in sorted(ranked)[:FOUND]]


def _list(root: Path) -> list[_Path]:
    files = _from_git(root)
    if files is None:
        files = _walk(root)
    folders = {f"{parent}/" for file in files for parent in _parents(file)}
    return [_Path(path, _key(path)) for path in [*sorted(folders), *files]]


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _from_git(root: Path) -> list[str] | None:
    """What git knows or would add, None outside a repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=10, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    names = os.fsdecode(done.stdout).split("\0")
    return list(dict.fromkeys(name for name in names if name))[:MOST]


def _walk(root: Path) -> list[str]:
    files: list[str] = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        base = Path(folder).relative_to(root)
        files += ((base / name).as_posix() for name in sorted(names))
        if len(files) >= MOST:
            break
    return files[:MOST]


def _key(path: str) -> str:
    return path.casefold() if path.isascii() else f"{path.casefold()}\n{initials(path)}"


def initials(text: str) -> str:
    """`text` with the common Chinese characters replaced by the first letters of their readings (记忆 -> jy)."""
    return "".join(map(_initial, text)).casefold()


def _initial(char: str) -> str:
    code = int.from_bytes(char.encode("gb2312", "ignore"))
    if code < _READINGS[0][1]:
        return char
    return next(
        (letter for (letter, first), (_, end) in pairwise(_READINGS) if first <= code < end),
        char,
    )
