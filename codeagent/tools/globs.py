"""Glob patterns as people write them: `**`, `*`, `?`, `[a-z]`, `{a,b}`; one without a slash fits at any depth."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path

from pathspec import GitIgnoreSpec, RegexPattern

_BRACES = re.compile(r"\{([^{}]*)\}")
_SET = re.compile(r"\[[!^]?\]?[^\]]*\]")
_MOST = 200
"""Alternatives that a pattern with braces may stand for."""


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path, relative and with slashes, fits `pattern`, or lies in a folder that does.

    Raises:
        ValueError: the pattern cannot be read; says why.
    """
    if not pattern.strip():
        raise ValueError("it is empty")
    bare = _SET.sub("", re.sub(r"\\.", "", pattern))
    if "[" in bare or bare.count("{") > bare.count("}"):
        raise ValueError(f"{'[' if '[' in bare else '{'} is not closed")
    found = ignoring(_anchored(one) for one in expand(pattern)).patterns
    searches = [one.regex.search for one in found if isinstance(one, RegexPattern) and one.regex is not None]
    return lambda path: any(search(path) for search in searches)


def ignoring(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of an ignore file. Raises ValueError."""
    with warnings.catch_warnings():  # of sets like [[]: they are what was asked for
        warnings.simplefilter("ignore", FutureWarning)
        return GitIgnoreSpec.from_lines(lines)


def names_hidden(pattern: str) -> bool:
    """Whether a pattern asks for hidden files or folders by name."""
    return any(re.match(r"\.[^./]|\.\.[^/]", part) for one in expand(pattern) for part in one.lstrip("!").split("/"))


def _anchored(pattern: str) -> str:
    pattern = pattern.removeprefix("./")
    if "/" in pattern:
        return "/" + pattern.lstrip("/")
    return "\\" + pattern if pattern[:1] in {"!", "#"} else pattern


def expand(pattern: str) -> list[str]:
    """The patterns without braces that `pattern` stands for."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        one = todo.pop()
        braces = _BRACES.search(one)
        if braces is None or len(todo) + len(done) > _MOST:
            done.append(one)
            continue
        todo += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
    return list(dict.fromkeys(done))


def split(pattern: str, folder: Path) -> tuple[Path, str]:
    """Where to look and for what: the plain beginning of a pattern that is absolute or climbs belongs to the folder."""
    if not pattern.startswith(("/", "../")):
        return folder, pattern
    parts = Path(pattern).parts
    plain = next((n for n, part in enumerate(parts) if re.search(r"[*?\[{]", part)), len(parts) - 1)
    rest = "/".join(parts[plain:])
    return reduce(Path.joinpath, parts[:plain], folder), f"./{rest}" if "/" in rest else f"/{rest}"
