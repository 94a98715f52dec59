"""What guarded files held when it last counted, kept in the home: it outlives a kill, and other programs see it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class State:
    """What is at a path: bytes (None for no file), and where it leads when it is a link."""

    data: bytes | None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The newest state that counts; `doubted` while whatever differs from it need not be the person's doing."""

    state: State
    doubted: bool


class Kept:
    """One private file for each guarded path; a disk that refuses costs what was to be kept, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, path: Path) -> Record | None:
        """None where there is none that can be read."""
        try:
            held = json.loads(self._place(path).read_bytes())
            data, link, doubted = held["data"], held["link"], held["doubted"]
            state = State(None if data is None else base64.b64decode(data), None if link is None else str(link))
            return Record(state, bool(doubted))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, path: Path, record: Record) -> None:
        if self.get(path) == record:
            return
        data = None if record.state.data is None else base64.b64encode(record.state.data).decode()
        held = {"path": str(path), "data": data, "link": record.state.link, "doubted": record.doubted}
        place = self._place(path)
        aside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.new")
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    json.dump(held, file)
                aside.replace(place)
            finally:
                aside.unlink(missing_ok=True)

    def _place(self, path: Path) -> Path:
        name = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return self._folder / f"{name}.json"
