"""Writing new text the way the old passage is written: its line ends, quotes, widths, trailing blanks, indentation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction

from codeagent.tools.folding import QUOTES, WIDTHS

_TOKEN = re.compile(r"(?:\w|[\u0300-\u036f\u3099\u309a\xad\u200b\u2060\ufeff])+|\s+|\.\.\.|[^\w\s]")
_TRAILING = re.compile(r"[ \t\u3000\xa0]++$", re.MULTILINE)
_UNITS = (4, 2, 8, 3)
"""Blanks that a step of indentation may be."""
_COMPARED = 4_000_000
"""Pairs of lines or tokens beyond which two texts are not compared."""

Shift = Callable[[str], str]


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


# ---- indentation ---------------------------------------------------------------------------------------------------


def relate(pairs: Sequence[tuple[str, str]]) -> Shift | None:
    """The one rule that turns the first indentation of every pair into the second, as a function on text."""
    ours, theirs = pairs[0]
    if theirs.endswith(ours) and all(there == theirs[: len(theirs) - len(ours)] + here for here, there in pairs):
        return _deeper(theirs[: len(theirs) - len(ours)])
    if ours.endswith(theirs) and all(here == ours[: len(ours) - len(theirs)] + there for here, there in pairs):
        surplus = ours[: len(ours) - len(theirs)]
        return _on_lines(lambda indent: indent.removeprefix(surplus) if indent.startswith(surplus) else indent.lstrip())
    tabs = any("\t" in there for _, there in pairs)
    for unit, scale, more in _rules(pairs):
        rule = _Rule(unit, scale, more, tabs)
        if all(rule(here) == there for here, there in pairs):
            return _on_lines(rule)
    return None


def _deeper(added: str) -> Shift:
    def shift(text: str) -> str:
        # Blanks of our own behind the tabs of the file would be a mixture that no language takes well.
        widths = [len(indent_of(line)) for line in text.split("\n") if line.startswith(" ")]
        unit = min(widths) if "\t" in added and widths else 0
        return _on_lines(lambda indent: added + (indent.replace(" " * unit, "\t") if unit else indent))(text)

    return shift


def _rules(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[int, Fraction, int]]:
    """(blanks to a tab, factor, blanks more) that may explain the pairs, the likeliest first."""
    for unit in _UNITS:
        yield unit, Fraction(1), 0
    for unit in _UNITS:
        here, there = ({len(pair[side].expandtabs(unit)) for pair in pairs} for side in (0, 1))
        if (more := min(there) - min(here)) % unit == 0:
            yield unit, Fraction(1), more
    for unit in _UNITS:
        here, there = ({len(pair[side].expandtabs(unit)) for pair in pairs} for side in (0, 1))
        if (steps := max(here) - min(here)) and len(here) == len(there):
            scale = Fraction(max(there) - min(there), steps)
            rest = min(there) - min(here) * scale
            if scale in (2, Fraction(1, 2)) and rest.denominator == 1:
                yield unit, scale, int(rest)


class _Rule:
    """Counts an indentation in blanks, changes their number, writes it as the file does."""

    def __init__(self, unit: int, scale: Fraction, more: int, tabs: bool) -> None:
        self._unit, self._scale, self._more, self._tabs = unit, scale, more, tabs

    def __call__(self, indent: str) -> str:
        blanks = max(int(len(indent.expandtabs(self._unit)) * self._scale) + self._more, 0)
        if not self._tabs:
            return " " * blanks
        return "\t" * (blanks // self._unit) + " " * (blanks % self._unit)


def _on_lines(change: Callable[[str], str]) -> Shift:
    def shift(text: str) -> str:
        return "\n".join(
            change(indent_of(line)) + line.lstrip(" \t") if line.strip() else line for line in text.split("\n")
        )

    return shift


# ---- what differs --------------------------------------------------------------------------------------------------


def differences(old: str, found: str) -> list[str]:
    """In what `found` differs from `old`, by the names the model is told."""
    if old == found:
        return []
    names = []
    if ("\r\n" in found) != ("\r\n" in old):
        names.append("line ends")
    old, found = old.replace("\r\n", "\n"), found.replace("\r\n", "\n")
    if _TRAILING.findall(old) != _TRAILING.findall(found):
        names.append("trailing blanks")
    ours, theirs = Counter(_TRAILING.sub("", old)), Counter(_TRAILING.sub("", found))
    unlike = {char for char in ours.keys() | theirs.keys() if ours[char] != theirs[char]}
    if unlike & QUOTES.keys():
        names.append("quotes")
    if unlike & WIDTHS.keys():
        names.append("full-width forms")
    if any(not char.isascii() and char not in QUOTES and char not in WIDTHS for char in unlike):
        names.append("compatibility characters")
    return names


# ---- the new text in the place of the old --------------------------------------------------------------------------


def ending_at(text: str, start: int, end: int) -> str:
    """How the lines of `text[start:end]` end, most of them; of the line it stands in where it holds no line end."""
    found = text[start:end]
    if "\n" in found:
        return "\r\n" if 2 * found.count("\r\n") > found.count("\n") else "\n"
    newline = text.find("\n", end)
    if newline < 0:
        newline = text.rfind("\n", 0, start)
    return "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"


def adapt(old: str, new: str, found: str, ending: str) -> str:
    """`new` as it belongs in the place of `found`, which was looked for as `old`.

    What `new` leaves as it was in `old` stays as it is in `found`, each line with its own end; lines that come new end
    in `ending`.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    there = found.split("\n")
    uniform = found.count("\r\n") in (0, len(there) - 1)
    if uniform and found.replace("\r\n", "\n") == old:
        return new if ending == "\n" else new.replace("\n", ending)
    bodies = [line.removesuffix("\r") for line in there[:-1]] + there[-1:]
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in there[:-1]]
    lines = _merge(old.split("\n"), new.split("\n"), bodies)
    written = [
        text + (ends[place] if place is not None and place < len(ends) else ending) for text, place in lines[:-1]
    ]
    return "".join((*written, lines[-1][0]))


def _merge(old: list[str], new: list[str], there: list[str]) -> list[tuple[str, int | None]]:
    """The lines of `new`, and for each that stands for one of `there` the number of that."""
    if len(old) != len(there) or len(old) * len(new) > _COMPARED:
        return [(line, None) for line in new]
    lines: list[tuple[str, int | None]] = []
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            lines += ((there[n], n) for n in range(i, j))
        elif j - i == m - k:
            lines += ((_blend(old[i + n], new[k + n], there[i + n]), i + n) for n in range(j - i))
        else:
            lines += ((line, None) for line in new[k:m])
    return lines


def _blend(old: str, new: str, there: str) -> str:
    """One changed line: the pieces that `new` kept from `old` are taken from the file."""
    before, after, found = _TOKEN.findall(old.rstrip()), _TOKEN.findall(new), _TOKEN.findall(there.rstrip())
    if before == found or len(before) != len(found) or len(before) * len(after) > _COMPARED:
        return new
    pieces: list[str] = []
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        pieces += found[i:j] if what == "equal" else after[k:m]
    return "".join(pieces)
