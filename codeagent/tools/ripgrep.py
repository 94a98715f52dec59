"""Asking ripgrep: its options, what it prints row by row, and when it has printed enough."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from codeagent.core.display import plain
from codeagent.core.tools import ToolContext
from codeagent.tools import globs
from codeagent.tools.encodings import decode_output
from codeagent.tools.process import capture
from codeagent.tools.queries import COLUMNS, Query, bad_pattern, path_filter
from codeagent.tools.walking import rg_arguments

Mode = Literal["content", "files", "count"]

_BINARY = rb"(?P<binary>[^\0\n]+): (?:WARNING: stopped searching )?binary file [^\0\n]*\(found [^\0\n]*\n|"
"""What stands behind the rows of a file in which a NUL byte came late."""
_ROWS = {
    "content": re.compile(_BINARY + rb"(?P<name>[^\0]+)\0(?P<number>\d+)(?P<kind>[:-])(?P<text>[^\n]*)\n"),
    "count": re.compile(rb"(?P<name>[^\0]+)\0(?P<text>\d+)\r?\n"),
    "files": re.compile(rb"(?P<name>[^\0]+)\0"),
}
_SHAPES = {"count": "--count", "files": "--files-with-matches"}
_PREVIEW = 4 * (COLUMNS + 50)
"""Bytes of a line up to which ripgrep gives the whole: more than is shown, whatever the characters."""
_SAFE = re.compile(r"[\w.*?+@~=,-]+")
"""Names that mean the same to ripgrep as to us, but for "?", which is a byte there."""
_HIDDEN_ALONE = Path(__file__).with_name("hidden.ignore")


class Row(NamedTuple):
    """A line, a file, or a file with its count, as printed."""

    name: bytes
    number: int = 0
    text: bytes = b""
    match: bool = True


@dataclass(slots=True)
class Found:
    """The rows of files that fit, read as they come."""

    mode: Mode
    fits: Callable[[str], bool]
    most: int | None = None
    """Matches beyond which no more are wanted."""
    rows: list[Row] = field(default_factory=list)
    _matches: int = 0
    _at: int = 0
    _known: tuple[bytes, bool] = (b"", False)
    """The name looked at last, and whether it fits."""

    def enough(self, got: bytearray) -> bool:
        """Take in what is new in `got`; True where that is enough."""
        for found in _ROWS[self.mode].finditer(got, self._at):
            self._at = found.end()
            if self.mode == "content" and (binary := found["binary"]):
                self._drop(binary)
                continue
            if (name := found["name"]) != self._known[0]:
                self._known = (name, self.fits(os.fsdecode(name)))
            if not self._known[1]:
                continue
            if self.mode == "content":
                row = Row(name, int(found["number"]), found["text"], found["kind"] == b":")
            else:
                row = Row(name, text=found["text"] if self.mode == "count" else b"")
            self.rows.append(row)
            self._matches += row.match
        return self.most is not None and self._matches > self.most

    def _drop(self, name: bytes) -> None:
        while self.rows and self.rows[-1].name == name:
            self._matches -= self.rows.pop().match


async def ask(
    rg: str,
    query: Query,
    ctx: ToolContext,
    found: Found,
    *options: str,
    paths: Sequence[str] = (),
    top: Path | None = None,
) -> list[Row]:
    """What ripgrep finds in `paths`, else in the target; with `top` it stands there and looks around.

    Raises:
        ToolFault: the pattern is not a regular expression.
        OSError: ripgrep does not run.
    """
    argv = [rg, "--no-config", "--color=never", "--no-messages", "--null", "--engine=auto", "--crlf", *options]
    if found.mode == "content":
        argv += [f"-M{_PREVIEW}", "--max-columns-preview", f"-B{query.before}", f"-A{query.after}", "--line-number"]
        argv += ["--no-heading", "--no-context-separator"]
    else:
        argv.append(_SHAPES[found.mode])
    argv += ["--with-filename", *(["-i"] if query.ignore_case else ()), *(["--multiline"] if query.multiline else ())]
    argv += ["-e", query.pattern, "--", *(paths or (["./"] if top else [str(query.target)]))]
    data, code = await capture(argv, cwd=top or ctx.roots[0], environ=ctx.environ, enough=found.enough)
    if code == 2 and b"\0" not in data and data.strip():
        raise bad_pattern(_reason(plain(decode_output(data))))
    return found.rows


async def only_hidden(query: Query, ctx: ToolContext, rg: str, most: int) -> list[Path]:
    """Up to `most` of the files with hits that are hidden below the target, hardly looking into others."""
    top = query.target
    fits = path_filter(query.glob, top)
    found = Found("files", lambda name: "/." in name[1:] and fits(os.path.normpath(top / name)), most - 1)
    rows = await ask(rg, query, ctx, found, f"--ignore-file={_HIDDEN_ALONE}", *options_for(query, ctx), top=top)
    return sorted(top / os.fsdecode(row.name) for row in rows)


def options_for(query: Query, ctx: ToolContext) -> list[str]:
    """Which files ripgrep looks into: at least those that are wanted."""
    return [*rg_arguments(ctx, hidden=query.hidden), *_names(query.glob)]


def _names(glob: str) -> list[str]:
    """For the names of files. Not --glob for what is wanted, which would bring ignored files back."""
    every = globs.expand(glob.removeprefix("!"))
    if not glob or not all(_SAFE.fullmatch(one.replace("/", "")) for one in every):
        return []
    if glob.startswith("!"):
        return [
            f"--glob=!{one if '/' not in one else f'**/{one}'}" for one in every if "?" not in one and one[0] != "/"
        ]
    if any(globs.names_folder(one) or one.endswith("**") or one == "*" for one in every):
        return []
    names = [one.rsplit("/", 1)[-1].replace("?", "*") for one in every]
    return [*(f"--type-add=wanted:{name}" for name in names), "--type=wanted"]


def _reason(told: str) -> str:
    """What ripgrep has against a pattern, in one line."""
    first = re.search(r"^(?:error: (?P<wrong>.+)|(?P<large>compiled regex exceeds .+))$", told, re.MULTILINE)
    second = re.search(r"^PCRE2: .*?: (.+)$", told, re.MULTILINE)
    if first and second and "not supported" in first[0]:
        return second[1]
    return first["wrong"] or first["large"] if first else " ".join(told.split())[:300]


def path_key(path: bytes) -> bytes:
    """Sorts as a walk goes: what is in a folder stands together."""
    return path.replace(b"/", b"\0")


def row_key(row: Row) -> bytes:
    return path_key(row.name)
