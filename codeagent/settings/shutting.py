"""The home is the person's alone: one that others may enter is shut, with what it holds."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from codeagent.core.events import Notice
from codeagent.core.paths import Home

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def shut(home: Home, environ: Mapping[str, str]) -> Notice | None:
    """Take from others what they may do in a home of ours that is there; where that cannot be, what to tell.

    A folder that is more than our home (the person's own, one with the sticky bit) stays as it is.
    """
    if sys.platform == "win32":
        return None
    try:
        found = home.root.stat()
        if not found.st_mode & _OTHERS:
            return None
        shared = found.st_mode & stat.S_ISVTX or home.root == Path(environ.get("HOME") or "/")
        if found.st_uid == os.geteuid() and not shared:
            home.root.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
            _shut_inside(home)
            return None
        reason = "is used for other things too" if shared else "belongs to somebody else"
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = f"cannot be shut: {error.strerror}"
    told = "{home} holds keys and what was said, others may enter it, and it {reason}. Set CODEAGENT_HOME to another."
    return Notice(told, {"home": str(home.root), "reason": reason}, "warning")


def _shut_inside(home: Home) -> None:
    """Whoever had a file open, or comes by another way, is shut out too."""
    for path in _secret(home):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if found.st_mode & _OTHERS and found.st_uid == os.geteuid() and not path.is_symlink():
                path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def _secret(home: Home) -> Iterator[Path]:
    yield from (home.config, home.history, home.facts.parent)
    yield from home.facts.parent.iterdir() if home.facts.parent.is_dir() else ()
    for folder, folders, files in os.walk(home.history):
        yield from (Path(folder, name) for name in (*folders, *files))
