"""The project's own folder: made private to git where it should be, and never a way out of the project."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

_IGNORED = "log/\n*.local.*\n*.lock\n"


def ready(folder: Path) -> None:
    """Make the project's `.code-agent-cli/`, with a `.gitignore` for what is this machine's. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text(_IGNORED, encoding="utf-8", newline="\n")


def within(path: Path, top: Path) -> bool:
    """Whether `path`, links followed, lies below the real path `top`."""
    return Path(os.path.realpath(path)).is_relative_to(top)


def put(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`, whole or not at all; a link stays one, mode bits stay. Raises OSError."""
    real = Path(os.path.realpath(path))
    aside = real.with_name(f".{real.name}.{secrets.token_hex(4)}.new")
    try:
        with aside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if real.exists():
            shutil.copymode(real, aside)
        aside.replace(real)
    finally:
        aside.unlink(missing_ok=True)
