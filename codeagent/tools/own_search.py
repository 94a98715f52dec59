"""Searching file contents without ripgrep: in all files, or in those in which it cannot find what is not ASCII."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codeagent.tools.encodings import decode, detect
from codeagent.tools.queries import Hit, Query, bad_pattern, path_filter, shown_line
from codeagent.tools.walking import Surroundings, walk

_LARGEST = 20_000_000
"""Bytes of a file that is looked into."""
_HEAD = 1_000_000


def search_python(query: Query, ctx: Surroundings) -> list[Hit]:
    """The same without ripgrep, with Python's regular expressions.

    Raises:
        ToolFault: the pattern is not a regular expression.
    """
    pattern, fits = _compiled(query), path_filter(_deep(query.glob))
    hits: list[Hit] = []
    others: list[Hit] = []
    found = 0
    for path in _files(query, ctx):
        if query.target.is_dir() and not fits(path):
            continue
        unicode, rows = _search_file(path, pattern, query)
        if not unicode and not query.pattern.isascii():
            others += rows
            continue
        hits += rows
        found += sum(row.match for row in rows)
        if found > query.enough:
            break
    return hits if found >= query.enough else hits + others


def _files(query: Query, ctx: Surroundings) -> Iterable[str]:
    return [str(query.target)] if query.target.is_file() else walk(query.target, ctx, hidden=query.hidden)


def _compiled(query: Query) -> re.Pattern[str]:
    flags = (re.IGNORECASE if query.ignore_case else 0) | (re.MULTILINE if query.multiline else 0)
    try:
        return re.compile(query.pattern, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise bad_pattern(str(error)) from None


def _deep(glob: str) -> str:
    """The same pattern, spelt as one that speaks of folders."""
    if not glob or "/" in glob:
        return glob
    return f"!**/{glob[1:]}" if glob.startswith("!") else f"**/{glob}"


def _search_file(path: str, pattern: re.Pattern[str], query: Query) -> tuple[bool, list[Hit]]:
    """(whether the file is in Unicode, its hits)."""
    try:
        data = Path(path).read_bytes() if Path(path).stat().st_size <= _LARGEST else b""
    except OSError:
        return True, []
    decoded = None if _nul_counts(data) else decode(data)
    if decoded is None:
        return True, []
    text, encoding = decoded
    unicode = encoding.name == "utf-8" or bool(encoding.bom)
    lines = text.removesuffix("\n").split("\n") if text else []
    found = list(_across(pattern, text)) if query.multiline else list(_within(pattern, lines))
    if not found:
        return unicode, []
    if query.mode != "content":
        return unicode, [Hit(Path(path), text=str(len(found)) if query.mode == "count" else "")]
    matches = sorted({number for span in found for number in span if number < len(lines)})
    shown = _with_context(matches, len(lines), query)
    return unicode, [Hit(Path(path), n + 1, shown_line(lines[n]), n in set(matches)) for n in shown]


def _within(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[range]:
    for number, line in enumerate(lines):
        if pattern.search(line.rstrip("\r")):
            yield range(number, number + 1)


def _across(pattern: re.Pattern[str], text: str) -> Iterator[range]:
    """The lines of each match that may reach over several."""
    at = number = 0
    for found in pattern.finditer(text):
        number += text.count("\n", at, found.start())
        at = found.start()
        yield range(number, number + text.count("\n", at, max(at, found.end() - 1)) + 1)


def _with_context(matches: Sequence[int], count: int, query: Query) -> list[int]:
    wanted = {n for match in matches for n in range(match - query.before, match + query.after + 1)}
    return sorted(n for n in wanted if 0 <= n < count)


def encoding_of(path: str) -> str | None:
    """The encoding of a file in which NUL bytes and byte order marks stand for nothing."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (one of many)
            data = file.read(_HEAD)
    except OSError:
        return None
    found = None if _nul_counts(data) else detect(data, whole=len(data) < _HEAD)
    return found.name if found is not None and not found.bom else None


def is_binary(path: Path) -> bool:
    """Whether a file holds what no text has; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
    except OSError:
        return False
    return _nul_counts(data)


def _nul_counts(data: bytes) -> bool:
    """A NUL byte makes a file binary for ripgrep, but where a byte order mark says that it is text."""
    return b"\0" in data and not ((found := detect(data[:4])) and found.bom)
