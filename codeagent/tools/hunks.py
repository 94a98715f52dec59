"""Applying the hunks of a patch to the text of a file. Pure: text in, text out.

A hunk is looked for from where the one before it ended, first exactly, then without blanks at line ends, then without
indentation, then in plainest spelling (`folding`); the first place counts. Only what a hunk changes is written anew,
and it is written as the file is: line ends, indentation, spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from codeagent.tools import adapting
from codeagent.tools.adapting import indent_of, relate
from codeagent.tools.base import ToolFault
from codeagent.tools.folding import plain
from codeagent.tools.nearest import nearest_passage
from codeagent.tools.patches import Hunk

_WAYS: tuple[Callable[[str], str], ...] = (
    lambda line: line,
    str.rstrip,
    str.strip,
    lambda line: plain(line).strip(),
)


@dataclass(frozen=True, slots=True)
class Patched:
    """The text after all hunks, and for each the lines that now hold it."""

    text: str
    lines: tuple[tuple[int, int], ...]
    tolerated: tuple[str, ...] = ()
    elsewhere: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Where a hunk would have fitted further down too: its line, and those (numbers before the patch)."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Lines `first` to `end` (not included) of the file stand for `old` and become `new`."""

    first: int
    end: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    others: tuple[int, ...] = ()


def apply_hunks(text: str, hunks: Sequence[Hunk], name: str) -> Patched:
    """All `hunks` in the text of the file `name`.

    Raises:
        ToolFault: the place of one is not found; the sentence has the nearest passage.
    """
    finder = _Finder(text, name)
    places = sorted((finder.place(hunk) for hunk in hunks), key=lambda place: (place.first, place.end))
    pieces, done, number = list[str](), 0, 1
    lines: list[tuple[int, int]] = []
    tolerated: dict[str, None] = {}
    for place in places:
        start, end, instead, notes = finder.written(place)
        pieces += (text[done:start], instead)
        done = end
        tolerated.update(dict.fromkeys(notes))
        number += pieces[-2].count("\n")
        lines.append((number, number + max(instead.removesuffix("\n").count("\n"), 0)))
        number += instead.count("\n")
    elsewhere = tuple((place.first + 1, place.others) for place in places if place.others)
    return Patched("".join((*pieces, text[done:])), tuple(lines), tuple(tolerated), elsewhere)


class _Finder:
    """Looks for the places of hunks, one after the other."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        raw = text.split("\n")
        self._offsets = list(accumulate((len(line) + 1 for line in raw), initial=0))
        self._lines = [line.removesuffix("\r") for line in (raw if raw[-1] else raw[:-1])]
        self._spelled: dict[Callable[[str], str], list[str]] = {}
        self._cursor = 0
        self._taken: list[_Place] = []

    def place(self, hunk: Hunk) -> _Place:
        start = self._cursor
        for number, anchor in enumerate(hunk.anchors):
            start = self._anchored(anchor, start, again=number == 0) + 1
        place = self._inserted(hunk, start) if not hunk.old else self._found(hunk, start)
        self._cursor = place.end
        self._taken.append(place)
        return place

    def _anchored(self, anchor: str, start: int, *, again: bool) -> int:
        """The line of an anchor from `start` on; with `again` from the top where it is not found there."""
        begins, spelled = plain(anchor).strip(), self._as(_WAYS[-1])
        for begin in (start, 0) if again else (start,):
            found = next(self._places((anchor,), begin), None)
            if found is None:
                found = next((n for n in range(begin, len(spelled)) if spelled[n].startswith(begins)), None)
            if found is not None:
                return found
        raise self._fault(f"The line {anchor.strip()!r} (after @@)", anchor, start)

    def _inserted(self, hunk: Hunk, start: int) -> _Place:
        at = start if hunk.anchors and not hunk.at_end else len(self._lines)
        return _Place(at, at, (), hunk.new)

    def _found(self, hunk: Hunk, start: int) -> _Place:
        old, new = hunk.old, hunk.new
        while True:
            # The line that anchors a hunk is often its first line too.
            if found := self._free(old, start - bool(hunk.anchors), at_end=hunk.at_end):
                others = tuple(n + 1 for n in found[1:]) if not hunk.anchors and not hunk.at_end else ()
                return _Place(found[0], found[0] + len(old), old, new, others)
            if len(before := self._free(old, 0)) == 1:
                return _Place(before[0], before[0] + len(old), old, new)
            if len(old) < 2 or old[-1] or new[-1:] != ("",):
                raise self._fault("What a hunk expects", "\n".join(hunk.old), start)
            # A blank line before the next section need not be meant.
            old, new = old[:-1], new[:-1]

    def _free(self, wanted: Sequence[str], start: int, *, at_end: bool = False) -> list[int]:
        """The places that no hunk has taken."""
        size = len(wanted)
        return [
            at
            for at in self._places(wanted, start, at_end=at_end)
            if not any(place.first < at + size and at < place.end for place in self._taken)
        ]

    def _places(self, wanted: Sequence[str], start: int, *, at_end: bool = False) -> Iterator[int]:
        """First lines of the passages that read like `wanted`, by the strictest way in which there is one."""
        last = len(self._lines) - len(wanted)
        if at_end and last >= start and any(self._as(way)[last:] == [*map(way, wanted)] for way in _WAYS):
            yield last
            return
        for way in _WAYS:
            sought, lines = [way(line) for line in wanted], self._as(way)
            found, at = False, start - 1
            while True:
                try:
                    at = lines.index(sought[0], at + 1)
                except ValueError:
                    break
                if lines[at : at + len(sought)] == sought:
                    found = True
                    yield at
            if found:
                return

    def _as(self, way: Callable[[str], str]) -> list[str]:
        if way not in self._spelled:
            self._spelled[way] = [way(line) for line in self._lines]
        return self._spelled[way]

    def _fault(self, what: str, wanted: str, start: int) -> ToolFault:
        behind = f" at or after line {start + 1}" if start else ""
        near = nearest_passage(self._text, wanted)
        told = f" The nearest passage is:\n{near}" if near else " Read the file again."
        return ToolFault(f"{what} does not stand in {self._name}{behind}.{told}", "not found")

    # ---- written in its place --------------------------------------------------------------------------------------

    def written(self, place: _Place) -> tuple[int, int, str, list[str]]:
        """Where the place begins and ends in the text, what is to stand there, and what was overlooked."""
        start, end = self._offset(place.first), self._offset(place.end)
        found = self._text[start:end]
        ending = adapting.ending_at(self._text, start, end)
        if not place.old:
            inserted = "".join(f"{line}{ending}" for line in place.new)
            if start and self._text[start - 1] != "\n":
                return start, end, ending + inserted.removesuffix(ending), []
            return start, end, inserted, []
        old, new, notes = self._shifted(place)
        if found.endswith("\n"):
            old, new = f"{old}\n", f"{new}\n" if place.new else ""
        elif not place.new and start:
            # The last lines of a file that does not end in a newline: the one before them goes too.
            start -= 2 if self._text[:start].endswith("\r\n") else 1
        notes += adapting.differences(old, found)
        return start, end, adapting.adapt(old, new, found, ending) if new else "", notes

    def _shifted(self, place: _Place) -> tuple[str, str, list[str]]:
        old, new = "\n".join(place.old), "\n".join(place.new)
        there = self._lines[place.first : place.end]
        pairs = [(indent_of(a), indent_of(b)) for a, b in zip(place.old, there, strict=True) if b.strip()]
        if all(ours == theirs for ours, theirs in pairs):
            return old, new, []
        shift = relate(pairs)
        return (shift(old), shift(new), ["indentation"]) if shift else (old, new, ["indentation"])

    def _offset(self, line: int) -> int:
        return min(self._offsets[line], len(self._text))
