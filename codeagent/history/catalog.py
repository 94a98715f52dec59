"""Which sessions there are: found by id or beginning of it, listed cheaply from both ends of their files."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from codeagent.core.errors import SessionNotFound, StoreError, UsageError
from codeagent.core.paths import Home, secrets_of, session_file
from codeagent.history import records
from codeagent.history.journal import take_lock

_ID = re.compile(r"(?![.-])[A-Za-z0-9._-]{1,64}(?<!\.jsonl)(?<!\.lock)(?<!\.part)(?<!\.)")
_REACH = 64 * 1024
_SAID = re.compile(r'"said":"((?:[^"\\]|\\.){0,300})')
_FIRST_WORDS = 120


@dataclass(frozen=True, slots=True)
class Found:
    """One session, as a listing shows it."""

    id: str
    path: Path
    project_id: str
    modified: float
    """Seconds since the epoch."""
    size: int
    """Bytes."""
    name: str | None = None
    first: str = ""
    """First words of the first thing that was said, on one line."""
    cwd: str = ""
    parent: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The sessions under a home."""

    home: Home

    def path(self, project_id: str, session_id: str) -> Path:
        return session_file(self.home, project_id, session_id)

    def sessions(self, project_id: str) -> list[Found]:
        """A project's sessions, newest first."""
        return [found for path in self._files(project_id) if (found := look(path)) is not None]

    def newest(self, project_id: str, cwd: str) -> Found | None:
        """What `--continue` means: the project's newest session of this working folder, else of any."""
        first = None
        for path in self._files(project_id):
            found = look(path)
            if found is not None and found.cwd == cwd:
                return found
            first = first or found
        return first

    def find(self, project_id: str, prefix: str) -> Found:
        """One session by its id, or by a beginning that only one of the project's has.

        Sessions of other projects answer to their whole id.

        Raises:
            SessionNotFound: none, or several.
        """
        paths = self._files(project_id)
        fitting = [path for path in paths if path.stem == prefix] or [
            path for path in paths if prefix and path.stem.startswith(prefix)
        ]
        if len(fitting) > 1:  # a mended copy answers to its whole id, not in the place of the original
            copies = {mended_id(path.stem) for path in fitting}
            fitting = [path for path in fitting if path.stem not in copies]
        if not fitting and valid_id(prefix):
            fitting = [path for path in self.home.history.glob(f"*/{prefix}.jsonl") if path.is_file()]
        if len(fitting) > 1:
            ids = ", ".join(path.stem for path in fitting[:5]) + (", …" if len(fitting) > 5 else "")
            raise SessionNotFound("Several sessions start with {prefix}: {ids}.", prefix=prefix, ids=ids)
        found = look(fitting[0]) if fitting else None
        if found is None:
            raise SessionNotFound("No session starts with {prefix}.", prefix=prefix)
        return found

    def remove(self, found: Found) -> None:
        """Delete a session with its archived outputs.

        Raises:
            SessionBusy: somebody works in it.
            StoreError: the disk refuses.
        """
        try:
            lock = take_lock(found.path)
            try:
                found.path.unlink(missing_ok=True)
                secrets_of(found.path).unlink(missing_ok=True)
                archive = found.path.with_suffix("")
                if archive.is_dir():
                    shutil.rmtree(archive)
            finally:
                if lock is not None:
                    lock.release()
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError("{path} cannot be removed: {reason}.", path=found.path, reason=reason) from error

    def files(self, project_id: str | None = None) -> list[Path]:
        """The session files of a project, or of all, oldest name first."""
        folders = self.home.history.glob("*") if project_id is None else [self.home.history / project_id]
        return sorted(path for folder in folders for path in folder.glob("*.jsonl") if path.is_file())

    def _files(self, project_id: str) -> list[Path]:
        """Newest first."""
        times: list[tuple[float, Path]] = []
        for path in (self.home.history / project_id).glob("*.jsonl"):
            try:
                about = path.stat()
            except OSError:  # Removed this moment.
                continue
            if stat.S_ISREG(about.st_mode):
                times.append((about.st_mtime, path))
        return [path for _, path in sorted(times, reverse=True)]


def new_session_id(now: datetime, random: Callable[[int], str] = secrets.token_hex) -> str:
    """`YYYYmmdd-HHMMSS-xxxxxx`; `random(n)` gives n bytes as hex digits."""
    return f"{now:%Y%m%d-%H%M%S}-{random(3)}"


def mended_id(session_id: str) -> str:
    """Id of the mended copy of a session; no longer than an id may be."""
    return f"{session_id[:57]}-mended"


def valid_id(session_id: str) -> bool:
    """Whether an id can be a session's: letters, digits, `._-`, at most 64, and no path nor option in disguise."""
    return _ID.fullmatch(session_id) is not None


def checked_id(session_id: str) -> str:
    """The id itself.

    Raises:
        UsageError: it cannot be a session's.
    """
    if not valid_id(session_id):
        raise UsageError("{id} is no session id: letters, digits and . _ - serve, at most 64.", id=repr(session_id))
    return session_id


def look(path: Path) -> Found | None:
    """What the two ends of a session file tell; None when it cannot be read."""
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            session, first, name = _beginning(file)
            name = _newest_name(file, about.st_size) or name or _text(session, "name")
    except OSError:
        return None
    return Found(
        id=path.stem,
        path=path,
        project_id=path.parent.name,
        modified=about.st_mtime,
        size=about.st_size,
        name=name,
        first=first,
        cwd=_text(session, "cwd") or "",
        parent=_text(session, "parent"),
        model=_text(session, "model") or "",
    )


def _beginning(file: BinaryIO) -> tuple[dict[str, Any], str, str | None]:
    """(session record, first words, name given before them), from at most 16 reaches."""
    session: dict[str, Any] = {}
    name = None
    for _ in range(16):
        data = file.readline(_REACH)
        type = _type(data)
        if type == "session" and not session:
            session = _fields(data)
        elif type == "rename":
            name = _text(_fields(data), "name") or name
        elif type == "message" and (said := _said(data)):
            return session, said, name
    return session, "", name


def _newest_name(file: BinaryIO, size: int) -> str | None:
    file.seek(max(0, size - _REACH))
    for data in reversed(file.read(_REACH).split(b"\n")):
        if _type(data) == "rename" and (name := _text(_fields(data), "name")):
            return name
    return None


def _type(data: bytes) -> str:
    found = records.HEAD.match(data)
    return found[3].decode() if found else ""


def _fields(data: bytes) -> dict[str, Any]:
    try:
        return records.parse(data)
    except records.UNREADABLE:
        return {}


def _text(fields: dict[str, Any], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def _said(data: bytes) -> str:
    """The beginning of `said`, which stands in front of the message, even of a line that was read in part."""
    found = _SAID.search(data.decode("utf-8", "ignore"))
    text = _text(_fields(b'{"said":"' + found[1].encode() + b'"}'), "said") if found else None
    return " ".join((text or "").split())[:_FIRST_WORDS]
