"""An existing file as the editing tools need it: whole, as text, seen by the model and unchanged since."""

from __future__ import annotations

import stat
from pathlib import Path

from codeagent.core.tools import ToolContext
from codeagent.tools.base import ToolFault
from codeagent.tools.diffs import brief_diff
from codeagent.tools.encodings import Encoding, decode, detect
from codeagent.tools.holding import open_held
from codeagent.tools.paths import shown

LARGEST = 50_000_000
"""Bytes of a file that is edited as a whole."""
_BEGINNING = 64_000
"""Bytes by which a file is known as binary."""
_COMPARED = 2_000_000
"""Bytes up to which a change by others is shown."""


def load_for_change(path: Path, ctx: ToolContext) -> tuple[str, Encoding]:
    """Text and encoding of the existing file `path`.

    Raises:
        ToolFault: not a text file, or not read, or changed since.
    """
    name = shown(ctx, path)
    info = path.stat()
    if stat.S_ISDIR(info.st_mode):
        raise ToolFault(f"{name} is a folder.", "a folder")
    if not stat.S_ISREG(info.st_mode):
        raise ToolFault(f"{name} is not a regular file.", "not a file")
    state = ctx.files.state(path)
    if state == "unread" and info.st_size:
        if _begins_binary(path):  # read_file would refuse it as well
            raise _binary(name)
        raise ToolFault(f"{name} has not been read yet. Read it with read_file first, then change it.", "not read")
    if state == "changed":
        raise ToolFault(
            f"{name} has changed since it was read. Read it again, then change it.{_change(path, ctx)}", "changed"
        )
    if info.st_size > LARGEST:
        raise ToolFault(f"{name} is larger than {LARGEST // 1_000_000} MB; change it with shell.", "too large")
    data = _whole(path)
    decoded = decode(data)
    if decoded is None:
        raise _binary(name)
    text, encoding = decoded
    if encoding.encode(text) != data:
        raise ToolFault(f"{name} is not quite {encoding.name} and would be damaged; change it with shell.", "encoding")
    return decoded


def _whole(path: Path) -> bytes:
    with open_held(path) as file:
        return file.read()


def _begins_binary(path: Path) -> bool:
    with open_held(path) as file:
        return detect(file.read(_BEGINNING), whole=False) is None


def _binary(name: str) -> ToolFault:
    return ToolFault(f"{name} is binary; change it with shell.", "binary")


def check_new(path: Path, ctx: ToolContext) -> None:
    """Raises:
    ToolFault: the file `path`, which does not exist, cannot be made where it would stand.
    """
    nearest = next(parent for parent in path.parents if parent.exists())
    if not nearest.is_dir():
        raise ToolFault(f"{shown(ctx, nearest)} is a file; no folder can be made there.", "not a folder")


def encode_as(text: str, encoding: Encoding, name: str, before: str) -> bytes:
    """The bytes of the file `name`, which held `before`.

    Raises:
        ToolFault: its encoding lacks a character, or is not certain enough to write one that is new in it.
    """
    if encoding.guesses(text, before):
        raise ToolFault(
            f"The encoding of {name} is not certain ({encoding.name}?), and what is beyond ASCII would perhaps be "
            "written wrongly; convert the file to UTF-8 with shell (iconv) first, or ask which encoding it has.",
            "encoding",
        )
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start : error.start + 1]
        raise ToolFault(f"{name} is in {encoding.name}, which lacks {lacking!r}.", "encoding") from None


def written_like(text: str, before: str) -> str:
    """A whole new text with the line ends of `before`, where those are all the same."""
    if "\r" not in text and before.count("\r\n") == before.count("\n") > 0:
        return text.replace("\n", "\r\n")
    return text


def _change(path: Path, ctx: ToolContext) -> str:
    """What others changed since the model read the file, as far as both sides are text."""
    seen, size = ctx.files.content(path), path.stat().st_size
    before = decode(seen) if seen is not None else None
    after = decode(_whole(path)) if size <= _COMPARED else None
    if before is None or after is None:
        return ""
    diff = brief_diff(before[0].split("\n"), after[0].split("\n"))
    return f"\nWhat changed meanwhile:\n{diff}" if diff else ""
