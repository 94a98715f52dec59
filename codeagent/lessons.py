"""What endpoints have taught, kept from one session to the next (L5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codeagent.core.errors import StoreError
from codeagent.settings.trust import write_private


class LessonBook:
    """Implements `ports.Lessons` in one file, by endpoint and model. Losing it costs a few refused requests."""

    def __init__(self, path: Path, settled: Mapping[str, Any] | None = None) -> None:
        """`settled` is what the person has said; nothing that was learnt goes before it."""
        self._path = path
        self._settled = settled or {}

    def of(self, place: str) -> Mapping[str, Any]:
        found = self._read().get(place)
        return {**(found if isinstance(found, dict) else {}), **self._settled}

    def learn(self, place: str, lessons: Mapping[str, Any]) -> None:
        book = self._read()
        learnt = {name: value for name, value in lessons.items() if name not in self._settled}
        if learnt:
            book[place] = learnt
        else:
            book.pop(place, None)
        try:
            write_private(self._path, json.dumps(book, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
        except StoreError:
            return

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
