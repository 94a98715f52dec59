"""Cutting a file into chunks: along its definitions where they can be told, by windows of lines elsewhere."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from codeagent.codebase.grammars import Definition, Parsers

WINDOW = 60
"""Lines of a chunk where nothing tells its parts, and about the most of any."""
_SPREAD = 20
"""So many lines before the end of a window a blank one is taken for its border."""
_WIDE = 2_000
"""Characters of a line that are looked at: longer ones are data, or made by a program."""
_LEAD = re.compile(r"\s*(#(?!include|define|if|endif|pragma)|//|/\*|\*|--|;;|@|\"\"\"|%)")
"""A line right above a definition that belongs to it: comment or decorator."""
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_OUTER = frozenset({"class", "struct", "interface", "trait", "impl", "namespace", "module", "enum"})
"""Kinds whose parts are chunks of their own."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file; lines from 1, both included."""

    start: int
    end: int
    symbol: str
    """What is defined here, with what it lies in ("Class.method"); "" outside definitions."""
    kind: str
    """class, function, method, section, …; "" outside definitions."""
    line: int
    """Where the definition itself begins, behind comments and decorators."""
    head: str
    """That line, cut."""
    text: str


def lines_of(text: str) -> list[str]:
    """The lines as parsers, grep and editors number them; what else ends a line for Python (a form feed, U+2028) is a
    character like others."""
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def cut(suffix: str, text: str, parsers: Parsers) -> list[Chunk]:
    """The chunks of a file in order; blank parts are left out. `suffix` is the lower-case ending of its name."""
    lines = [line[:_WIDE] for line in lines_of(text)]
    definitions = _definitions(suffix, text, lines, parsers)
    names = _qualified(definitions)
    owners = _owners(lines, definitions)
    chunks: list[Chunk] = []
    at = 0
    for owner, run in groupby(owners):
        size = len(list(run))
        for start, end in _windows(lines, at, at + size):
            if chunk := _chunk(lines, start, end, definitions, names, owner):
                chunks.append(chunk)
        at += size
    return chunks


def _definitions(suffix: str, text: str, lines: Sequence[str], parsers: Parsers) -> list[Definition]:
    """In order of their lines, the outer before the inner."""
    if suffix in {".md", ".markdown"}:
        return list(_sections(lines))
    if suffix in {".py", ".pyi"}:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
            return list(_of_python(tree, ""))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass  # of another Python, or unfinished: the grammar is more tolerant
    return _methods(parsers.definitions(suffix, text) or [])


def _of_python(node: ast.AST, inside: str) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min((decorator.lineno for decorator in child.decorator_list), default=child.lineno)
            is_class = isinstance(child, ast.ClassDef)
            kind = "class" if is_class else "method" if inside == "class" else "function"
            yield Definition(first, child.end_lineno or child.lineno, child.name, kind)
            yield from _of_python(child, "class" if is_class else "function")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _of_python(child, inside)


def _methods(definitions: list[Definition]) -> list[Definition]:
    """Functions that lie in a class are methods, whatever the grammar calls them."""
    return [
        Definition(one.start, one.end, one.name, "method") if one.kind == "function" and _in_outer(one, at, definitions)
        else one
        for at, one in enumerate(definitions)
    ]  # fmt: skip


def _in_outer(one: Definition, at: int, definitions: Sequence[Definition]) -> bool:
    for other in reversed(definitions[:at]):
        if other.end >= one.end:
            return other.kind in _OUTER - {"namespace", "module"}
    return False


def _sections(lines: Sequence[str]) -> Iterator[Definition]:
    """The headings of a Markdown text with what stands under them, up to the next one."""
    heads: list[tuple[int, str]] = []
    fenced = False
    for at, line in enumerate(lines, 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (found := _HEADING.match(line)):
            heads.append((at, found[2]))
    ends = (*(at - 1 for at, _ in heads[1:]), len(lines))
    for (start, name), end in zip(heads, ends, strict=False):
        yield Definition(start, end, name[:120], "section")


def _qualified(definitions: Sequence[Definition]) -> list[str]:
    """For each definition its name behind those that it lies in."""
    names: list[str] = []
    open_: list[tuple[int, str]] = []
    for one in definitions:
        while open_ and open_[-1][0] < one.end:
            open_.pop()
        name = f"{open_[-1][1]}.{one.name}" if open_ else one.name
        names.append(name)
        open_.append((one.end, name))
    return names


def _owners(lines: Sequence[str], definitions: Sequence[Definition]) -> list[int]:
    """For each line which definition it belongs to, -1 for none: the innermost that is a chunk of its own."""
    owners = [-1] * len(lines)
    for at, one in enumerate(definitions):
        start, end = one.start - 1, min(one.end, len(lines))
        around = owners[start] if start < len(owners) else -1
        if around >= 0 and not _parted(definitions[around]):
            continue
        while start > 0 and owners[start - 1] == around and _LEAD.match(lines[start - 1]):
            start -= 1
        owners[start:end] = [at] * (end - start)
    return owners


def _parted(one: Definition) -> bool:
    """Whether what lies inside a definition is cut out of it: a class always, a function when it is long."""
    return one.kind in _OUTER or one.end - one.start >= 2 * WINDOW


def _windows(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of at most `WINDOW` lines and a half of it, borders at blank lines where there are some."""
    while end - start > WINDOW * 3 // 2:
        border = start + WINDOW
        blank = (at + 1 for at in range(border, border - _SPREAD, -1) if not lines[at].strip())
        border = next(blank, border)
        yield start, border
        start = border
    yield start, end


def _chunk(
    lines: Sequence[str],
    start: int,
    end: int,
    definitions: Sequence[Definition],
    names: Sequence[str],
    owner: int,
) -> Chunk | None:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end or (end - start < 3 and not any(char.isalnum() for char in "".join(lines[start:end]))):
        return None
    first = start
    if owner >= 0:
        first = max(start, min(definitions[owner].start - 1, end - 1))
        while first < end - 1 and lines[first].lstrip().startswith("@"):
            first += 1
    head = lines[first].strip()[:160]
    kind = definitions[owner].kind if owner >= 0 else ""
    symbol = names[owner] if owner >= 0 else ""
    return Chunk(start + 1, end, symbol, kind, first + 1, head, "\n".join(lines[start:end]))
