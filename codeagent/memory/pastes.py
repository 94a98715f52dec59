"""What of a message the person wrote, and what was pasted into it: logs, tables, code, documents.

A short message is the person's own but for what is fenced or quoted. In a longer one the lines are told apart by their
looks: lines of one shape, lines of few words that come again and again, code, logs, wrapped and indented text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from codeagent.memory.chinese import simplified
from codeagent.memory.rules import is_code, lays_down, rules
from codeagent.text.patterns import late

LONG = 4_000
"""Characters of a message up to which it stays whole, and of a longer one that stay of it at most."""
_SHORT = 1_500
"""Characters up to which nobody looks at the looks of lines."""
_LINE = 400
"""Characters of a line beyond which its sentences are told apart."""
_SAME = 6
"""So many lines of one shape were not typed."""
_EDGE = 600
"""Characters at either end of a message where the person's own sentences are most likely."""

_MORE = "[...]"
_FENCE = late(r"\s*(`{3,}|~{3,})")
_SENTENCE = late(r"(?<=[。！？!?；;])|(?<=[.])(?=\s)")
_CHANGING = late(r"\b(?=\w*\d)[0-9a-f]{6,}\b|\d+", re.I)
_WORD = late(r"[A-Za-z]{2,}|(?=([\u3400-\u9fff]{2}))")
_ENDED = late(r"[.!?:;。！？：；…][\"'”’)）」]*\s*$")
_LOOKS = late(r"^(?:\t| {2,})(?!\s*(?:[-*•]|\d{1,2}[.)]) )|^\s*\|.*\|\s*$|^\s*[-=*_#~+]{4,}\s*$|^(?:[^\t]*\t){2}")
_MARKUP = late(r"^\s*#{1,6} |\*\*|\]\(|`|<\w+>|\b(?:MUST|SHALL|SHOULD|MAY|REQUIRED)\b")
_PERSONAL = late(r"\b(?:i|i[’']m|me|my|you|your|we|our|please|pls)\b|我|你|您|请|咱", re.I)
_CHINESE = late("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A line of a message, or a sentence of a long one."""

    text: str
    line: int


def own(text: str) -> str:
    """What the person wrote of `text`, as far as can be told."""
    units = _units(text)
    pasted = _pasted(text, units)
    return _joined([unit for unit, other in zip(units, pasted, strict=True) if not other])


def laid_down(text: str) -> Sequence[str]:
    """The rules among the person's own sentences."""
    return _laid_down(text) if len(text) <= 2 * LONG else rules(own(text))


@lru_cache(maxsize=512)
def _laid_down(text: str) -> tuple[str, ...]:
    """Asked for again and again while a record is made to fit."""
    return tuple(rules(own(text)))


def without_pastes(text: str, id: str) -> str:
    """`text` with what was pasted left out where it is long; `id` is that of the message, which recall gives whole.

    The person's own sentences stay; where there are too many of them, those that lay something down come first.
    """
    if len(text) <= LONG:
        return text
    units = _units(text)
    pasted = _pasted(text, units)
    kept = _chosen(units, [place for place, other in enumerate(pasted) if not other])
    left = sum(len(unit.text) for place, unit in enumerate(units) if place not in kept)
    note = f'[... {left:,} characters are left out here and below; recall(id="{id}") gives the whole message ...]'
    parts: list[str] = []
    for place, unit in enumerate(units):
        blank = not unit.text.strip()
        if place in kept and place - 1 in kept and units[place - 1].line == unit.line:
            parts[-1] += unit.text
        elif place in kept and not (blank and parts and parts[-1] in ("", note, _MORE)):
            parts.append(unit.text)
        elif place not in kept and not blank and (not parts or parts[-1] not in (note, _MORE)):
            parts.append(_MORE if note in parts else note)
    return "\n".join(parts).strip("\n")


def _joined(units: Sequence[_Unit]) -> str:
    lines: dict[int, str] = {}
    for unit in units:
        lines[unit.line] = lines.get(unit.line, "") + unit.text
    return "\n".join(lines.values())


def _units(text: str) -> list[_Unit]:
    return [
        _Unit(piece, number)
        for number, line in enumerate(text.split("\n"))
        for piece in (_SENTENCE.split(line) if len(line) > _LINE else [line])
    ]


# ---- told apart by looks -------------------------------------------------------------------------------------------


def _pasted(text: str, units: Sequence[_Unit]) -> list[bool]:
    """Which of the units were pasted."""
    marked = list(_fenced(units))
    if len(text) <= _SHORT:
        return marked
    shapes = Counter(_shape(unit.text) for unit in units)
    words = Counter(word for unit in units for word in _words(unit.text))
    common = max(_SAME, len(units) // 30)
    for place, unit in enumerate(units):
        line = unit.text
        if not line.strip() or marked[place]:
            continue
        said = _words(line)
        marked[place] = (
            shapes[_shape(line)] >= _SAME
            or (len(said) > 2 and all(words[word] >= common for word in said))
            or _LOOKS.search(line) is not None
            or len(line) > 2 * _LINE
            or is_code(line)
        )
    _mark_wrapped(units, marked)
    return marked


def _fenced(units: Sequence[_Unit]) -> Iterator[bool]:
    """Whether each unit stands in a fence that is closed, or is quoted."""
    closing: dict[int, int] = {}
    opened: tuple[int, str] | None = None
    for place, unit in enumerate(units):
        if found := _FENCE.match(unit.text):
            if opened is None:
                opened = (place, found[1])
            elif found[1].startswith(opened[1]) and not unit.text.strip(" \t`~"):
                closing[opened[0]] = place
                opened = None
    end = -1
    for place, unit in enumerate(units):
        end = closing.get(place, end)
        yield place <= end or unit.text.lstrip().startswith((">", "＞"))


def _mark_wrapped(units: Sequence[_Unit], marked: list[bool]) -> None:
    """Mark long lines that break off in the middle of a sentence among others that do, and how the sentence ends:
    text wrapped by a program."""
    broken = [len(unit.text) > 50 and _ENDED.search(unit.text) is None for unit in units]
    for place, unit in enumerate(units):
        around = sum(broken[max(0, place - 2) : place + 3])
        goes_on = place > 0 and broken[place - 1] and unit.text[:1].islower()
        if around > 2 and (broken[place] or goes_on):
            marked[place] = True


def _shape(line: str) -> str:
    """A line without what changes from one of its kind to the next."""
    return _CHANGING.sub("0", line.strip()) if line.strip() else line


def _words(line: str) -> set[str]:
    """Words of Latin letters and pairs of Chinese characters."""
    return {found[1] or found[0].lower() for found in _WORD.finditer(line)}


# ---- where too much could be the person's own ----------------------------------------------------------------------


def _chosen(units: Sequence[_Unit], places: Sequence[int]) -> set[int]:
    """Those of `places` that stay: all, or the best up to `LONG` characters in all."""
    if sum(len(units[place].text) + 1 for place in places) <= LONG:
        return set(places)
    size = sum(len(unit.text) for unit in units)
    chinese = len(_CHINESE.findall("".join(unit.text for unit in units))) * 4 > size
    marks: dict[int, float] = {}
    before = 0
    for place, unit in enumerate(units):
        marks[place] = _mark(unit.text, min(before, size - before), chinese=chinese)
        before += len(unit.text) + 1
    around = {
        place: marks[place] + sum(marks.get(place + step, 0.0) for step in (-2, -1, 1, 2)) / 4 for place in places
    }
    chosen: set[int] = set()
    room = LONG
    for place in sorted(places, key=lambda place: (-around[place], place)):
        if units[place].text.strip() and (room := room - len(units[place].text) - 1) < 0:
            break
        chosen.add(place)
    return chosen


def _mark(line: str, edge: int, *, chinese: bool) -> float:
    """How much a line looks like one that the person wrote: short, a rule, personal, near an end of the message, in
    another language than the rest."""
    if not line.strip():
        return 0.0
    foreign = (len(_CHINESE.findall(line)) * 4 > len(line)) != chinese
    return (
        2.0 * lays_down(line)
        + 2.0 * (edge < _EDGE)
        + 1.0 * (len(line) < 120)
        + 1.0 * (_PERSONAL.search(simplified(line)) is not None)
        + 1.0 * (_ENDED.search(line) is not None)
        + 1.0 * foreign
        - 2.0 * (len(line) > 240)
        - 2.0 * (_MARKUP.search(line) is not None)
    )
