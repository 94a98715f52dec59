"""What was said in a session, from its file, message by message: as data, as Markdown, or as its records; no more than
one in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codeagent.core.errors import StoreError
from codeagent.history import records
from codeagent.history.catalog import Found
from codeagent.history.reading import read_lines

BRIEF = 400
"""Characters of a tool result that a brief transcript shows."""


def read_messages(path: Path) -> Iterator[dict[str, Any]]:
    """Every message record in order, whether or not it is still in the prompt; what cannot be read is left out.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for _, line in read_lines(file):
                if b'"type":"message"' in line[:120] and (record := _parse(line)):
                    yield record
    except OSError as error:
        raise StoreError("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error) from error


def as_markdown(found: Found, *, brief: bool = False) -> Iterator[str]:
    """The conversation in pieces of Markdown, each without its last newline; `brief` shortens what tools returned."""
    yield f"# {found.name or found.first or found.id}\n"
    yield f"Session {found.id} · {found.model or 'unknown model'} · {found.cwd}\n"
    for record in read_messages(found.path):
        yield from _message(record, brief)


def as_records(found: Found) -> Iterator[str]:
    """The lines of the session file as they are.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        with found.path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for line in file:
                yield line.rstrip("\n")
    except OSError as error:
        reason = error.strerror or error
        raise StoreError("{path} cannot be read: {reason}.", path=found.path, reason=reason) from error


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        record = records.parse(line)
    except records.UNREADABLE:
        return None
    return record if isinstance(record.get("message"), dict) else None


def _message(record: dict[str, Any], brief: bool) -> Iterator[str]:
    message = record["message"]
    text = content_of(message.get("content"))
    match message.get("role"):
        case "user":
            title = {"summary": "Summary", "tool": "Images"}.get(str(record.get("origin")), "User")
            yield f"## {title}\n\n{record.get('said') or text}\n"
        case "assistant":
            if text:
                yield f"## Assistant\n\n{text}\n"
            for call in message.get("tool_calls") or ():
                function = call.get("function") or {}
                yield _fenced(f"**{function.get('name')}**", str(function.get("arguments")), "json")
        case "tool":
            shown = f"{text[:BRIEF]}…" if brief and len(text) > BRIEF else text
            yield _fenced("Failed:" if record.get("failed") else "Result:", shown)


def content_of(content: object) -> str:
    """Of pictures, what stands in front of them."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    return str(content or "")


def _fenced(title: str, text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{title}\n\n{fence}{language}\n{text}\n{fence}\n"
