"""Finding the passage that an edit means, and putting the new text in its place. Pure: text in, text out.

Tried in this order, and the first way that finds anything decides: the exact text; the same but for line ends, trailing
blanks, and how characters are spelled (`folding`); the same lines indented differently, all by one rule; both of these
without the line numbers copied along from a listing; whole lines spaced differently inside. A passage must be unique
unless every one is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeagent.tools import adapting
from codeagent.tools.adapting import indent_of, relate
from codeagent.tools.folding import Folded, plain

_NUMBER = re.compile(r"^ {0,8}(\d{1,7})(?:\t|→|: |\| ?)")

_LAST = "the final newline"


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
        return Ambiguous(tuple(_lines_at(text, [match.start for match in matches])))
    pieces, done, tolerated, count = [], 0, dict[str, None](), 0
    for match in matches:
        if match.start < done:
            continue
        count += 1
        found = text[match.start : match.end]
        ending = adapting.ending_at(text, match.start, match.end)
        pieces += [text[done : match.start], adapting.adapt(match.old, match.new, found, ending)]
        done = match.end
        tolerated.update(dict.fromkeys((*match.tolerated, *adapting.differences(match.old, found))))
    first = text.count("\n", 0, matches[0].start) + 1
    lines = max(pieces[1].removesuffix("\n").count("\n"), 0)
    return Edited("".join((*pieces, text[done:])), count, first, first + lines, tuple(tolerated))


def _lines_at(text: str, offsets: list[int]) -> Iterator[int]:
    line, done = 1, 0
    for offset in offsets:
        line += text.count("\n", done, offset)
        done = offset
        yield line


def _matches(text: str, old: str, new: str) -> list[_Match]:
    if exact := [_Match(at, at + len(old), old, new) for at in _positions(text, old)]:
        return exact
    readings = list(_readings(old.replace("\r\n", "\n"), new.replace("\r\n", "\n")))
    folded = Folded.of(text)
    for wanted, instead, note in readings:
        found = [_Match(start, end, wanted, instead, note) for start, end in _find(folded, wanted)]
        if not found and not text.endswith("\n") and wanted.endswith("\n"):
            short, less = wanted.removesuffix("\n"), instead.removesuffix("\n")
            spans = _find(folded, short, at_end=True)
            found = [_Match(start, end, short, less, (*note, _LAST)) for start, end in spans]
        if found := found or _shifted(text, wanted, instead, note, _body):
            return found
    for wanted, instead, note in readings:
        if found := _shifted(text, wanted, instead, (*note, "spacing"), _squeezed):
            return found
    return []


def _find(folded: Folded, wanted: str, *, at_end: bool = False) -> list[tuple[int, int]]:
    """Spans of the original whose plain spelling is that of `wanted`."""
    sought = Folded.of(wanted).text
    if not sought.strip():
        return []
    # A blank at the end of what is looked for may stand inside a line.
    whole = sought + wanted[len(wanted.rstrip(" \t")) :]
    sought = whole if whole in folded.text else sought
    spans = [(at, at + len(sought)) for at in _positions(folded.text, sought)]
    return [
        span
        for start, end in spans
        if (not at_end or end == len(folded.text)) and (span := folded.span(start, end)) is not None
    ]


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


def _shifted(text: str, old: str, new: str, note: tuple[str, ...], body: Callable[[str], str]) -> list[_Match]:
    """Passages of whole lines whose bodies equal those of `old`, and whose indentation differs by one rule."""
    wanted = old.removesuffix("\n").split("\n")
    whole = old.endswith("\n")
    bodies = [body(line) for line in wanted]
    if not any(bodies):
        return []
    lines = text.split("\n")
    have = [body(line) for line in lines]
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
        shift = relate([pair for pair, full in zip(pairs, bodies, strict=True) if full])
        if shift is None:
            continue
        at_end = after == len(lines)
        ours, instead = shift(old), shift(new)
        if whole and at_end:
            ours, instead = ours.removesuffix("\n"), instead.removesuffix("\n")
        end = offsets[after] if whole and not at_end else offsets[after - 1] + len(lines[after - 1].removesuffix("\r"))
        moved: tuple[str, ...] = () if all(here == there for here, there in pairs) else ("indentation",)
        if whole and at_end:
            moved = (*moved, _LAST)
        found.append(_Match(offsets[at], end, ours, instead, (*note, *moved)))


def _body(line: str) -> str:
    return plain(line).strip()


def _squeezed(line: str) -> str:
    return " ".join(plain(line).split())
