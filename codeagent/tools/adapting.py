"""Writing new text the way the old passage is written: its line ends, quotes, widths, trailing blanks, indentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial

_QUOTES = dict(zip(map(ord, "‘’‚‛“”„‟′″"), "''''\"\"\"\"'\"", strict=True))
_WIDTHS: dict[int, str] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0xA0, 0x202F, 0x205F, 0x3000, *range(0x2002, 0x200B)), " "),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
}
_PLAIN = {chr(code): plain for code, plain in (*_QUOTES.items(), *_WIDTHS.items())}
_FANCY = re.compile(f"[{''.join(_PLAIN)}]")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_TRAILING = re.compile(r"[ \t\u3000\xa0]++$", re.MULTILINE)

Shift = Callable[[str], str]


def canonical_char(text: str) -> str:
    """`text` with straight quotes, half-width forms, plain blanks and hyphens: one character for one character."""
    return text if text.isascii() else _FANCY.sub(lambda found: _PLAIN[found[0]], text)


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def relate(pairs: Sequence[tuple[str, str]]) -> Shift | None:
    """The one rule that turns the first indentation of every pair into the second, as a function on text."""
    ours, theirs = pairs[0]
    if theirs.endswith(ours) and all(there == theirs[: len(theirs) - len(ours)] + here for here, there in pairs):
        added = theirs[: len(theirs) - len(ours)]
        return _on_lines(lambda indent: added + indent)
    if ours.endswith(theirs) and all(here == ours[: len(ours) - len(theirs)] + there for here, there in pairs):
        surplus = ours[: len(ours) - len(theirs)]
        return _on_lines(lambda indent: indent.removeprefix(surplus) if indent.startswith(surplus) else indent.lstrip())
    for unit in (4, 2, 8, 3):
        blanks = " " * unit
        if all(set(there) <= {"\t"} and here == blanks * len(there) for here, there in pairs):
            return _on_lines(partial(_replaced, blanks, "\t"))
        if all(set(here) <= {"\t"} and there == blanks * len(here) for here, there in pairs):
            return _on_lines(partial(_replaced, "\t", blanks))
    return None


def _replaced(one: str, other: str, indent: str) -> str:
    return indent.replace(one, other)


def _on_lines(change: Callable[[str], str]) -> Shift:
    def shift(text: str) -> str:
        return "\n".join(
            change(indent_of(line)) + line.lstrip(" \t") if line.strip() else line for line in text.split("\n")
        )

    return shift


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
    old, found = _TRAILING.sub("", old), _TRAILING.sub("", found)
    if old.translate(_WIDTHS) != found.translate(_WIDTHS):
        names.append("quotes")
    if old.translate(_QUOTES) != found.translate(_QUOTES):
        names.append("full-width forms")
    return names


def adapt(old: str, new: str, found: str, text: str) -> str:
    """`new` as it belongs in the place of `found`, which stands in `text` and was looked for as `old`.

    What `new` leaves as it was in `old` stays as it is in `found`; the rest is written with the file's line ends.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    model = found if "\n" in found else text
    ending = "\r\n" if 2 * model.count("\r\n") > model.count("\n") else "\n"
    there = found.replace("\r\n", "\n")
    if there != old:
        new = _merge(old.split("\n"), new.split("\n"), there.split("\n"))
    return new if ending == "\n" else new.replace("\n", ending)


def _merge(old: list[str], new: list[str], there: list[str]) -> str:
    if len(old) != len(there):
        return "\n".join(new)
    lines: list[str] = []
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            lines += there[i:j]
        elif j - i == m - k:
            lines += [_blend(old[i + n], new[k + n], there[i + n]) for n in range(j - i)]
        else:
            lines += new[k:m]
    return "\n".join(lines)


def _blend(old: str, new: str, there: str) -> str:
    """One changed line: the characters that `new` kept from `old` are taken from the file."""
    if old == there or len(old) > len(there) + 1_000:
        return new
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    starts = [0]
    for token in before:
        starts.append(starts[-1] + len(token))
    pieces: list[str] = []
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        pieces += [there[starts[i] : starts[j]]] if what == "equal" else after[k:m]
    return "".join(pieces)
