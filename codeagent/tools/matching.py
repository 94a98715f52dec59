"""Finding the passage that an edit means, and putting the new text in its place. Pure: text in, text out.

Tried in this order, and the first way that finds anything decides: the exact text; the same but for line ends, trailing
blanks, typographic quotes and full-width forms; the same with line numbers copied along from a listing; the same lines
indented differently, all by one rule. A passage must be unique unless every one is wanted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.tools import adapting
from codeagent.tools.adapting import canonical_char, indent_of, relate

_DROPPED = re.compile(r"(?<![ \t\u3000\xa0])[ \t\u3000\xa0]++(?=\r?\n|\Z)|\r(?=\n)")
_NUMBER = re.compile(r"^ {0,8}(\d{1,7})(?:\t|→|: |\| ?)")


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after the edit, the lines that now hold the first replacement, and what was overlooked to find it."""

    text: str
    count: int
    first_line: int
    last_line: int
    tolerated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Line numbers of all the passages that fit."""

    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotFound:
    pass


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    old: str
    """What was looked for, shifted as the file is; line by line it corresponds to the passage."""
    new: str
    tolerated: tuple[str, ...] = ()


def apply_edit(text: str, old: str, new: str, *, every: bool = False) -> Edited | Ambiguous | NotFound:
    """Replace the one passage of `text` that `old` means by `new`; with `every` all of them. `old` is not empty."""
    matches = _matches(text, old, new)
    if not matches:
        return NotFound()
    if len(matches) > 1 and not every:
        return Ambiguous(tuple(_line_at(text, match.start) for match in matches))
    pieces, done, tolerated, count = [], 0, dict[str, None](), 0
    for match in matches:
        if match.start < done:
            continue
        count += 1
        found = text[match.start : match.end]
        pieces += [text[done : match.start], adapting.adapt(match.old, match.new, found, text)]
        done = match.end
        tolerated.update(dict.fromkeys((*match.tolerated, *adapting.differences(match.old, found))))
    first = _line_at(text, matches[0].start)
    lines = max(pieces[1].removesuffix("\n").count("\n"), 0)
    return Edited("".join((*pieces, text[done:])), count, first, first + lines, tuple(tolerated))


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _matches(text: str, old: str, new: str) -> list[_Match]:
    if exact := [_Match(at, at + len(old), old, new) for at in _positions(text, old)]:
        return exact
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    canon = _Canon.of(text)
    for wanted, instead, note in _readings(old, new):
        found = [_Match(start, end, wanted, instead, note) for start, end in canon.find(wanted)]
        if not found and not text.endswith("\n") and wanted.endswith("\n"):
            wanted, instead = wanted.removesuffix("\n"), instead.removesuffix("\n")
            found = [_Match(start, end, wanted, instead, note) for start, end in canon.find(wanted, at_end=True)]
        found = found or [
            _Match(hit.start, hit.end, hit.old, hit.new, (*note, *hit.tolerated))
            for hit in _shifted(text, wanted, instead)
        ]
        if found:
            return found
    return []


def _readings(old: str, new: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """`old` and `new` as they are, then without the line numbers that were copied along."""
    yield old, new, ()
    lines = old.removesuffix("\n").split("\n")
    numbers = [_NUMBER.match(line) for line in lines]
    values = [int(number[1]) for number in numbers if number]
    if len(values) == len(lines) and values == list(range(values[0], values[0] + len(values))):
        yield _unnumbered(old), _unnumbered(new), ("line numbers",)


def _unnumbered(text: str) -> str:
    return "\n".join(_NUMBER.sub("", line) for line in text.split("\n"))


def _positions(text: str, wanted: str) -> list[int]:
    """Where it stands, overlapping ones too: a passage is not unique when it also begins inside itself."""
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


@dataclass(frozen=True, slots=True)
class _Canon:
    """A text in its plainest spelling, and where each stretch of it stood: `ours[i]` is `theirs[i]` in the original."""

    text: str
    ours: list[int]
    theirs: list[int]

    @classmethod
    def of(cls, text: str) -> _Canon:
        pieces, ours, theirs, done, length = [], [0], [0], 0, 0
        for dropped in _DROPPED.finditer(text):
            pieces.append(text[done : dropped.start()])
            length += dropped.start() - done
            done = dropped.end()
            ours.append(length)
            theirs.append(done)
        pieces.append(text[done:])
        return cls(canonical_char("".join(pieces)), ours, theirs)

    def find(self, wanted: str, *, at_end: bool = False) -> list[tuple[int, int]]:
        """Spans of the original whose plain spelling is that of `wanted`."""
        plain = canonical_char(_DROPPED.sub("", wanted))
        if not plain.strip():
            return []
        spans = [(at, at + len(plain)) for at in _positions(self.text, plain)]
        return [
            (self._back(start), self._back(end - 1) + 1) for start, end in spans if not at_end or end == len(self.text)
        ]

    def _back(self, offset: int) -> int:
        place = bisect_right(self.ours, offset) - 1
        return self.theirs[place] + offset - self.ours[place]


def _shifted(text: str, old: str, new: str) -> list[_Match]:
    """Passages of whole lines that equal those of `old` but for an indentation that differs by one rule."""
    wanted = old.removesuffix("\n").split("\n")
    whole = old.endswith("\n")
    bodies = [_body(line) for line in wanted]
    if not any(bodies):
        return []
    lines = text.split("\n")
    have = [_body(line) for line in lines]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    found: list[_Match] = []
    at = -1
    while True:
        try:
            at = have.index(bodies[0], at + 1)
        except ValueError:
            return found
        after = at + len(bodies)
        if have[at:after] != bodies:
            continue
        pairs = [(indent_of(ours), indent_of(theirs)) for ours, theirs in zip(wanted, lines[at:after], strict=True)]
        shift = relate([pair for pair, body in zip(pairs, bodies, strict=True) if body])
        if shift is None:
            continue
        at_end = after == len(lines)
        ours, instead = shift(old), shift(new)
        if whole and at_end:
            ours, instead = ours.removesuffix("\n"), instead.removesuffix("\n")
        end = offsets[after] if whole and not at_end else offsets[after - 1] + len(lines[after - 1].removesuffix("\r"))
        found.append(_Match(offsets[at], end, ours, instead, ("indentation",)))


def _body(line: str) -> str:
    return canonical_char(line).strip()
