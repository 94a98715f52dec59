"""Glob patterns as people write them: `**`, `*`, `?`, `[a-z]`, `{a,b}`; one without a slash fits names at any depth.

They become regular expressions that never go back over a star: the leftmost place for what follows one is as good as
any other. So the time they take grows with the path alone, however many stars there are.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from pathlib import Path

_BRACES = re.compile(r"\{([^{}]*)\}")
_PART = re.compile(r"\\(?P<escaped>.)|(?P<any>\*+)|(?P<one>\?)|(?P<set>\[[!^]?\]?[^\]]*\])|(?P<char>.)", re.DOTALL)
_WILD = re.compile(r"[*?\[]")
_MOST = 200
"""Alternatives that a pattern with braces may stand for."""
LONGEST = 2_000
"""Characters of a pattern."""


def matcher(pattern: str, *, below: bool = False) -> Callable[[str], bool]:
    """Whether a path, relative and with slashes, fits `pattern`, or lies in a folder that it names.

    A folder is named without wildcards in its last part; with `below` any folder counts that fits.

    Raises:
        ValueError: the pattern cannot be read; says why.
    """
    if not pattern.strip():
        raise ValueError("it is empty")
    bare = re.sub(r"\\.|\[[!^]?\]?[^\]]*\]", "", pattern)
    if "[" in bare or bare.count("{") > bare.count("}"):
        raise ValueError(f"{'[' if '[' in bare else '{'} is not closed")
    if len(pattern) > LONGEST or len(ones := expand(pattern)) > _MOST:
        raise ValueError(f"it is longer than {LONGEST:,} characters, or its braces stand for more than {_MOST} names")
    fits = _compiled("|".join(_path(one.removeprefix("./"), below) for one in ones)).match
    return lambda path: fits(path) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of an ignore file."""

    ignores: bool
    """False for one that takes back what others say."""
    names: Callable[[str], object]
    """Truthy where it means the path itself, which ends with a slash for a folder."""


def ignore_rules(lines: Iterable[str]) -> list[Rule]:
    """What an ignore file says. Lines that cannot be read are left out."""
    return [rule for line in lines if (rule := _rule(line)) is not None]


def _rule(line: str) -> Rule | None:
    text = line.rstrip("\r\n")
    body = text.rstrip(" ")
    if body.endswith("\\"):  # the blank behind it is meant
        body = text[: len(body) + 1]
    taken_back = body.startswith("!")
    body = body[taken_back:]
    folder = body.endswith("/")
    body = body.removesuffix("/")
    if not body or text.startswith("#"):
        return None
    try:
        regex = _compiled(_path(body, False, "/" if folder else "/?"))
    except ValueError:
        return None
    return Rule(not taken_back, regex.match)


def names_hidden(pattern: str) -> bool:
    """Whether a pattern asks for hidden files or folders by name."""
    return any(re.match(r"\.[^./]|\.\.[^/]", part) for one in expand(pattern) for part in one.lstrip("!").split("/"))


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


def names_folder(pattern: str) -> bool:
    """Whether what lies in a folder that fits `pattern`, which is without braces, fits as well."""
    return pattern.endswith("/") or _WILD.search(pattern.rsplit("/", 1)[-1]) is None


# ---- regular expressions -------------------------------------------------------------------------------------------


def _compiled(regex: str) -> re.Pattern[str]:
    """Raises ValueError."""
    try:
        with warnings.catch_warnings():  # of sets like [[]: they are what was asked for
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(regex, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error).split(" at position")[0]) from None


def _path(pattern: str, below: bool, end: str | None = None) -> str:
    """For whole paths; `end` stands for what may follow, by default what `below` or a plain last part allows."""
    if end is None:
        end = "(?:/.*)?" if below or names_folder(pattern) else ""
    if pattern.endswith("/"):
        pattern, end = pattern.rstrip("/"), "/.*"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    parts = [part for part in pattern.split("/") if part]
    runs = [(deep, list(run)) for deep, run in groupby(parts, lambda part: part == "**")]
    regex = "".join(_run(run, deep, number, len(runs)) for number, (deep, run) in enumerate(runs))
    return f"(?:{regex}{end})\\Z"


def _run(parts: list[str], deep: bool, number: int, count: int) -> str:
    """One run of parts between `**`, each with the slash behind it, or what stands for `**`."""
    last = number == count - 1
    if deep:
        return ".+" if last else ""
    regex = "/".join(map(_part, parts))
    if last:
        return f"(?:[^/]+/)*{regex}" if number else regex
    return f"(?>(?:[^/]+/)*?{regex}/)" if number else f"{regex}/"


def _part(text: str) -> str:
    """For one part between slashes: behind each star the leftmost place, but for the last, which ends the part."""
    pieces = [""]
    for kind, written in _tokens(text):
        if kind == "any":
            pieces.append("")
        else:
            pieces[-1] += written
    first, *rest = pieces
    if not rest:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece)
    return f"{first}{middle}[^/]*{rest[-1]}"


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for found in _PART.finditer(text):
        kind = found.lastgroup or ""
        said = found[kind]
        if kind == "one":
            yield kind, "[^/]"
        elif kind == "set":
            inside = said[1:-1]
            inside = f"^{inside[1:]}" if inside[:1] in {"!", "^"} else inside
            yield kind, f"(?!/)[{inside.replace(chr(92), chr(92) * 2)}]"
        else:
            yield kind, re.escape(said)
