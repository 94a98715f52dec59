"""Searching file contents without ripgrep: in all files, or in those whose lines it cannot tell apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codeagent.tools.encodings import decode, detect
from codeagent.tools.own_patterns import compile_pattern
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
    pattern, fits = _compiled(query), path_filter(query.glob, query.target)
    hits: list[Hit] = []
    others: list[Hit] = []
    found = 0
    for path in _files(query, ctx):
        if not fits(path):
            continue
        unicode, rows = _search_file(path, pattern, query)
        if not unicode and query.beyond_ascii:
            others += rows
            continue
        hits += rows
        found += sum(row.match for row in rows)
        if found > query.enough:
            break
    return hits if found >= query.enough else hits + others


def _files(query: Query, ctx: Surroundings) -> Iterable[str]:
    if query.files:
        return query.files
    return [str(query.target)] if query.target.is_file() else walk(query.target, ctx, hidden=query.hidden)


def _compiled(query: Query) -> re.Pattern[str]:
    try:
        return compile_pattern(query.pattern, ignore_case=query.ignore_case, multiline=query.multiline)
    except ValueError as error:
        raise bad_pattern(str(error)) from None


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
    matches = {number for span in found for number in span if number < len(lines)}
    shown = _with_context(sorted(matches), len(lines), query)
    return unicode, [Hit(Path(path), n + 1, shown_line(lines[n]), n in matches) for n in shown]


def _within(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[range]:
    """A carriage return inside of a line ends one for the pattern, though not for the count of lines."""
    for number, line in enumerate(lines):
        if any(pattern.search(part) for part in line.removesuffix("\r").split("\r")):
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
    data = _head(path)
    found = None if not data or _nul_counts(data) else detect(data, whole=len(data) < _HEAD)
    return found.name if found is not None and not found.bom else None


def ends_lines_with_cr(path: str) -> bool:
    """Whether carriage returns alone end its lines, as far as its beginning tells."""
    data = _head(path)
    return b"\r" in data and b"\n" not in data


def is_binary(path: Path) -> bool:
    """Whether a file holds what no text has; False where it cannot be read."""
    return _nul_counts(_head(str(path)))


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (one of many)
            return file.read(_HEAD)
    except OSError:
        return b""


def _nul_counts(data: bytes) -> bool:
    """A NUL byte makes a file binary for ripgrep, but where a byte order mark says that it is text."""
    return b"\0" in data and not ((found := detect(data[:4])) and found.bom)
