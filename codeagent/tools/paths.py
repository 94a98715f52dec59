"""Paths as the model writes them, and how they are shown to it."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from codeagent.core.tools import ToolContext
from codeagent.tools.base import ToolFault

_KERNEL = ("/proc", "/sys", "/dev")
"""Where files are no files: reading one may wait for ever, act, or tell secrets."""


def resolve(ctx: ToolContext, text: str) -> Path:
    """The real path meant by `text`: relative to the working folder, `~` for the home, links followed."""
    if not text.strip() or "\0" in text:
        raise ToolFault("path is empty or holds a NUL character.", "bad path")
    home = ctx.environ.get("HOME")
    if home and (text == "~" or text.startswith("~/")):
        text = home + text[1:]
    return Path(os.path.realpath(ctx.cwd / text))


def shown(ctx: ToolContext, path: Path) -> str:
    """`path` on one line, relative to the working folder where it lies inside, else absolute."""
    return on_one_line(path.relative_to(ctx.cwd).as_posix() if path.is_relative_to(ctx.cwd) else str(path))


def refuse_system(ctx: ToolContext, path: Path) -> None:
    """Raises ToolFault for what the kernel only shows as files."""
    if any(path.is_relative_to(folder) for folder in _KERNEL):
        raise ToolFault(
            f"{shown(ctx, path)} belongs to the system and is not read here; use shell if you need it.", "not a file"
        )


def on_one_line(path: str) -> str:
    """A path with its line ends, if it should have any, written as \\n and \\r."""
    return path.replace("\n", "\\n").replace("\r", "\\r")


def short(text: str, limit: int = 80) -> str:
    """A path or pattern for a title: one line, the end kept."""
    line = " ".join(text.split())
    return line if len(line) <= limit else "…" + line[-limit + 1 :]


def begun(text: str, limit: int = 160) -> str:
    """Words for a title: one line, the beginning kept."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def missing(ctx: ToolContext, path: Path) -> str:
    """The sentence for a path that does not exist, with the nearest names where one may look."""
    sentence = f"{shown(ctx, path)} does not exist."
    folder, wanted = path.parent, path.name
    while not folder.is_dir() and folder != folder.parent:
        folder, wanted = folder.parent, folder.name
    if not any(folder.is_relative_to(root) for root in ctx.roots):
        return sentence
    names = sorted(os.listdir(folder))  # noqa: PTH208 (names alone are wanted)
    lower = {name.lower(): name for name in names}
    near = [lower[name] for name in difflib.get_close_matches(wanted.lower(), lower, n=3, cutoff=0.6)]
    if near:
        return f"{sentence} Nearest: {', '.join(shown(ctx, folder / name) for name in near)}."
    if folder != path.parent:
        return f"{sentence} The folder {shown(ctx, path.parent)} does not exist either."
    return sentence
