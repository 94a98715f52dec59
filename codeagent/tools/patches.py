"""The patch form that models know: files added, updated with context lines, moved, deleted. Pure: text to values.

*** Begin Patch
*** Update File: a.py
*** Move to: b.py
@@ class A:
 a line that stays
-a line that goes
+a line that comes
*** End Patch
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.tools.base import ToolFault

BEGIN, END = "*** Begin Patch", "*** End Patch"
_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: *(\S.*?) *")
HEADERS = re.compile(rf"^{_HEADER.pattern}\r?$", re.MULTILINE)
_MOVE = re.compile(r"\*\*\* Move to: *(\S.*?) *")
_END_OF_FILE = "*** End of File"
_NO_NEWLINE = "\\ No newline"
_UNIFIED = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)")
_HEREDOC = re.compile(r"(?:apply_patch\s+)?<<-?\s*(['\"]?)(\w+)\1")
_SHAPE = (
    f'A patch is "{BEGIN}", sections that begin with "*** Update File: path", "*** Add File: path" or '
    f'"*** Delete File: path", and "{END}".'
)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a file: the lines that are there and those that shall be, and what stands before them."""

    anchors: tuple[str, ...]
    """Lines above the place, outermost first ("@@ class A")."""
    old: tuple[str, ...]
    new: tuple[str, ...]
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Added:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Deleted:
    path: str


@dataclass(frozen=True, slots=True)
class Updated:
    path: str
    hunks: tuple[Hunk, ...]
    move_to: str = ""


Section = Added | Deleted | Updated


def parse_patch(text: str) -> list[Section]:
    """The sections of a patch, at least one.

    Raises:
        ToolFault: it is none; the sentence says where and why.
    """
    reader = _Reader(_unwrapped(text))
    sections = list(reader.sections())
    if not sections:
        raise ToolFault(f"The patch has no section. {_SHAPE}", "bad patch")
    return sections


def _unwrapped(text: str) -> list[str]:
    """The lines between beginning and end, without what a shell or a code fence put around them."""
    lines = text.replace("\r\n", "\n").strip().split("\n")
    heredoc = _HEREDOC.fullmatch(lines[0].strip())
    if (heredoc and lines[-1].strip() == heredoc[2]) or (lines[0].startswith("```") and lines[-1].strip() == "```"):
        lines = lines[1:-1]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or lines[0].strip() != BEGIN:
        raise ToolFault(f'The patch does not begin with "{BEGIN}". {_SHAPE}', "bad patch")
    if lines[-1].strip() != END:
        raise ToolFault(f'The patch does not end with "{END}"; it may have been cut off. Send it whole.', "bad patch")
    return lines


class _Reader:
    """Goes through the lines of a patch."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def _peek(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _fault(self, why: str) -> ToolFault:
        return ToolFault(f"Line {self._at + 1} of the patch, {self._lines[self._at][:80]!r}: {why}", "bad patch")

    def sections(self) -> Iterator[Section]:
        while (line := self._peek()) is not None:
            if line.strip() in ("", BEGIN, END):
                self._at += 1
                continue
            header = _HEADER.fullmatch(line.strip())
            if header is None:
                raise self._fault(f"no section begins so. {_SHAPE}")
            self._at += 1
            if header[1] == "Add":
                yield Added(header[2], self._content())
            elif header[1] == "Delete":
                yield Deleted(header[2])
            else:
                yield self._updated(header[2])

    def _content(self) -> str:
        lines: list[str] = []
        blank = 0
        while (line := self._peek()) is not None and not line.startswith("***"):
            if line.startswith("+"):
                lines += [*[""] * blank, line[1:]]
                blank = 0
            elif line.strip():
                raise self._fault("each line of an added file begins with +.")
            else:
                blank += 1
            self._at += 1
        return "".join(f"{line}\n" for line in lines)

    def _skip_blank(self) -> None:
        while (line := self._peek()) is not None and not line.strip():
            self._at += 1

    def _updated(self, path: str) -> Updated:
        move = _MOVE.fullmatch((self._peek() or "").strip())
        self._at += move is not None
        hunks: list[Hunk] = []
        while True:
            self._skip_blank()
            line = self._peek()
            if line is None or line.startswith("***"):
                break
            hunks.append(self._hunk())
        if not hunks and move is None:
            raise ToolFault(f"The patch says nothing of what is to change in {path}.", "bad patch")
        return Updated(path, tuple(hunks), move[1] if move else "")

    def _hunk(self) -> Hunk:
        anchors: list[str] = []
        while (line := self._peek()) is not None and line.startswith("@@"):
            anchor = line[2:].removeprefix(" ")
            if unified := _UNIFIED.fullmatch(anchor.strip()):
                anchor = unified[1]
            anchors += [anchor] if anchor.strip() else []
            self._at += 1
        old, new, at_end = list[str](), list[str](), False
        begun = self._at
        while (line := self._peek()) is not None and not line.startswith("@@"):
            if line.startswith("***"):
                at_end = line.strip() == _END_OF_FILE
                self._at += at_end
                break
            self._at += 1
            if line.startswith(_NO_NEWLINE):
                continue
            # A line with no sign is a line that stays: its blank was forgotten.
            sign, body = (line[0], line[1:]) if line[:1] in ("+", "-", " ") else (" ", line)
            if sign != "+":
                old.append(body)
            if sign != "-":
                new.append(body)
        if self._at == begun:
            self._at = begun - 1
            raise self._fault("no lines follow it: lines that stay begin with a blank, others with - or +.")
        return Hunk(tuple(anchors), tuple(old), tuple(new), at_end)
