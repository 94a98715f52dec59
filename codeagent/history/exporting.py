"""Writing a session down for others: as Markdown, as one web page, or as its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.history.catalog import Found
from codeagent.history.page import as_page
from codeagent.history.transcript import as_markdown, as_records

FORMATS: Mapping[str, Callable[[Found], Iterator[str]]] = {"md": as_markdown, "html": as_page, "jsonl": as_records}
"""Name -> the session in pieces, each without its last newline."""


def write_export(found: Found, format: str, path: Path) -> None:
    """Write the session in one of `FORMATS`; a file that is there is replaced.

    Raises:
        StoreError: the session cannot be read, or the file not be written.
    """
    try:
        with path.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as target:
            target.writelines(f"{part}\n" for part in FORMATS[format](found))
    except OSError as error:
        raise StoreError("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error) from error
