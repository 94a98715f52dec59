"""`@path` in Markdown: which files a text imports. Mail addresses, decorators, npm scopes and code are none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_MENTION = re.compile(r"(?<![A-Za-z0-9_.@/`+-])@(?P<path>[^\s@`\"'“”‘’<>|*，。；：！？、（）【】「」《》]+)")
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_ITEM = re.compile(r"\s+(?:[-*+]|\d+[.)])\s")
_TRAILING = ".,;:!?)]}"
_NAMED = re.compile(r".*?\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9._/-])")
"""Up to a file ending, for text that goes on without a blank, as Chinese does."""
_MEANT = re.compile(r"(?:~|\.{1,2})/.+|.+\.(?:md|markdown|mdx)", re.I)
"""What can only be meant as a file, so that its absence is worth a word."""


def find_imports(text: str, folder: Path, user_home: Path) -> Iterator[Path]:
    """Paths that `text`, a file of `folder`, imports, in order: files that exist, or can only be meant as files."""
    for line in _prose(text):
        for found in _MENTION.finditer(line):
            path = _resolve(found["path"], folder, user_home)
            if path is not None:
                yield path


def _prose(text: str) -> Iterator[str]:
    """The lines outside code blocks, with code spans blanked."""
    fence, blank = "", True
    for line in _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n"):
        code = blank and line.startswith(("    ", "\t")) and not _ITEM.match(line)
        blank = not line.strip() or code
        if code:
            continue
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        elif not fence:
            yield _SPAN.sub("``", line)


def _resolve(written: str, folder: Path, user_home: Path) -> Path | None:
    stripped = written.rstrip(_TRAILING)
    named = _NAMED.match(written)
    candidates = [_place(name, folder, user_home) for name in (written, stripped, named[0] if named else "") if name]
    for path in candidates:
        if _is_file(path):
            return path
    meant = named[0] if named else stripped
    return _place(meant, folder, user_home) if _MEANT.fullmatch(meant) else None


def _place(name: str, folder: Path, user_home: Path) -> Path:
    return Path(os.path.normpath(user_home / name[2:] if name.startswith("~/") else folder / name))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or one with a NUL
        return False
