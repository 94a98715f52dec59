"""Searching file contents: one query, answered by ripgrep or by our own search, as a stream of hits by path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codeagent.core.display import plain
from codeagent.core.tools import ToolContext
from codeagent.tools import globs
from codeagent.tools.base import ToolFault
from codeagent.tools.encodings import decode, decode_output, detect
from codeagent.tools.process import capture
from codeagent.tools.walking import rg_arguments, walk

COLUMNS = 500
_LARGEST = 20_000_000
"""Bytes of a file that our own search looks at."""
_ROW = re.compile(rb"([^\0\n]+)\0(\d+)([:-])([^\n]*)")
_COUNT = re.compile(rb"([^\0\n]+)\0(\d+)")
_MATCH = re.compile(rb"\0\d+:")
_MODES = {
    "content": ("--line-number", "--with-filename", "--no-heading"),
    "files": ("--files-with-matches",),
    "count": ("--count", "--with-filename"),
}


@dataclass(frozen=True, slots=True)
class Query:
    pattern: str
    target: Path
    mode: Literal["content", "files", "count"] = "content"
    glob: str = ""
    before: int = 0
    after: int = 0
    ignore_case: bool = False
    enough: int = 100
    """Hits after which no more are wanted."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A line (number from 1; `match` is False for context), a file (number 0), or a file with its count of lines."""

    path: Path
    number: int = 0
    text: str = ""
    match: bool = True


async def search_rg(query: Query, ctx: ToolContext, rg: str) -> list[Hit]:
    """Hits in the order of paths. Text in GB18030, which ripgrep does not recognise, is searched as well.

    Raises:
        ToolFault: the pattern is not a regular expression.
    """
    hits = await _ask(query, ctx, rg)
    if not query.pattern.isascii() and sum(hit.match for hit in hits) < query.enough:
        known = {hit.path for hit in hits}
        chinese: dict[Path, bool] = {}
        for hit in await _ask(query, ctx, rg, "--encoding=gb18030"):
            if hit.path not in chinese:
                chinese[hit.path] = hit.path not in known and _is_gb18030(hit.path)
            if chinese[hit.path]:
                hits.append(hit)
    return hits


async def _ask(query: Query, ctx: ToolContext, rg: str, *more: str) -> list[Hit]:
    argv = [rg, *_MODES[query.mode], *rg_arguments(ctx), "--null", "--sort=path", "--engine=auto", *more]
    if query.mode == "content":
        argv += [f"-M{COLUMNS}", "--max-columns-preview", f"-B{query.before}", f"-A{query.after}"]
    if query.ignore_case:
        argv.append("-i")
    if "\\n" in query.pattern or "\n" in query.pattern:
        argv.append("--multiline")
    argv += [*_names(query.glob), "--glob=!.git", "-e", query.pattern, "--", str(query.target)]
    fits = _path_filter(query.glob)

    def enough(got: bytearray) -> bool:
        return len(got) > _LARGEST if fits else len(_MATCH.findall(got)) > query.enough

    data, code = await capture(argv, cwd=ctx.roots[0], environ=ctx.environ, enough=enough)
    hits = list(_parse(data, query.mode))
    if code == 2 and not hits and data.strip():
        raise ToolFault(f"The search failed: {plain(decode_output(data)).strip()}", "bad pattern")
    return [hit for hit in hits if fits(hit.path)] if fits else hits


def _names(glob: str) -> list[str]:
    """ripgrep's options for the names of files. Not --glob, which would bring ignored files back."""
    if glob.startswith("!"):
        return [f"--glob={glob}"]
    names = [one.rsplit("/", 1)[-1] for one in globs.expand(glob) if glob]
    if not names or {"", "*", "**"} & set(names):
        return []
    return [*(f"--type-add=wanted:{name}" for name in names), "--type=wanted"]


def _path_filter(glob: str) -> Callable[[Path], bool] | None:
    """For a pattern that speaks of folders: whether a path fits it at any depth."""
    if "/" not in glob:
        return None
    excluded = glob.startswith("!")
    wanted = glob.removeprefix("!")
    fits = globs.matcher(wanted if wanted.startswith(("/", "**/")) else f"**/{wanted}")
    return lambda path: fits(path.as_posix().lstrip("/")) != excluded


def _parse(data: bytes, mode: str) -> Iterator[Hit]:
    if mode == "files":
        yield from (Hit(_path(name)) for name in data.split(b"\0")[:-1])
    elif mode == "count":
        yield from (Hit(_path(name), text=count.decode()) for name, count in _COUNT.findall(data))
    else:
        for name, number, kind, text in _ROW.findall(data):
            yield Hit(_path(name), int(number), _line(decode_output(text)), kind == b":")


def _path(name: bytes) -> Path:
    return Path(name.decode("utf-8", "surrogateescape"))


def _line(text: str) -> str:
    text = plain(text.rstrip("\r\n"))
    return text if len(text) <= COLUMNS + 50 else f"{text[:COLUMNS]} [+{len(text) - COLUMNS} characters]"


def _deep(glob: str) -> str:
    """The same pattern, spelt as one that speaks of folders."""
    if not glob or "/" in glob:
        return glob
    return f"!**/{glob[1:]}" if glob.startswith("!") else f"**/{glob}"


def _is_gb18030(path: Path) -> bool:
    with path.open("rb") as file:
        encoding = detect(file.read(1_000_000), whole=False)
    return encoding is not None and encoding.name == "gb18030"


def search_python(query: Query, ctx: ToolContext) -> list[Hit]:
    """The same without ripgrep, with Python's regular expressions, line by line.

    Raises:
        ToolFault: the pattern is not a regular expression.
    """
    try:
        pattern = re.compile(query.pattern, re.IGNORECASE if query.ignore_case else 0)
        fits = _path_filter(_deep(query.glob))
    except (re.error, ValueError) as error:
        raise ToolFault(f"The search failed: {error}", "bad pattern") from None
    hits: list[Hit] = []
    found = 0
    for path in [query.target] if query.target.is_file() else walk(query.target, ctx):
        if fits is not None and not fits(path):
            continue
        rows = _search_file(path, pattern, query)
        hits += rows
        found += sum(row.match for row in rows)
        if found > query.enough:
            break
    return hits


def _search_file(path: Path, pattern: re.Pattern[str], query: Query) -> list[Hit]:
    try:
        decoded = decode(path.read_bytes()) if path.stat().st_size <= _LARGEST else None
    except OSError:
        return []
    lines = decoded[0].removesuffix("\n").split("\n") if decoded else []
    matches = [number for number, line in enumerate(lines) if pattern.search(line.rstrip("\r"))]
    if not matches:
        return []
    if query.mode != "content":
        return [Hit(path, text=str(len(matches)) if query.mode == "count" else "")]
    found = set(matches)
    return [Hit(path, n + 1, _line(lines[n]), n in found) for n in _with_context(matches, len(lines), query)]


def _with_context(matches: Sequence[int], count: int, query: Query) -> list[int]:
    wanted = {n for match in matches for n in range(match - query.before, match + query.after + 1)}
    return sorted(n for n in wanted if 0 <= n < count)
