"""Archiving what the model gets only a part of, and the words by which it is told where the whole is."""

from __future__ import annotations

from collections.abc import Iterable

from codeagent.core.errors import StoreError
from codeagent.core.ports import Archive


def keep(archive: Archive, call_id: str, whole: str | Iterable[str]) -> tuple[str | None, str]:
    """Archive a whole that the model gets a part of: its id, and what the model is told of it.

    A disk that refuses costs the rest, never the part: the id is None then, and the sentence says so.
    """
    try:
        name = archive.put(call_id, whole)
    except StoreError as error:
        return None, f"it is not archived: {str(error).rstrip('.')}"
    return name, f"the whole is in {archive.folder / name} (read_file with offset, or grep)"
