"""Text in its plainest spelling, so that two ways of writing the same can be found equal. Pure.

Typographic quotes become straight, full-width and compatibility characters plain (`（` is `(`, `ﬁ` is `fi`), accents
are composed, blanks that do not break are blanks, what nobody sees is left out. Blanks at line ends and carriage
returns before a newline do not count.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

QUOTES = dict(zip("‘’‚‛“”„‟′″", "''''\"\"\"\"'\"", strict=True))
WIDTHS = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(chr, (0xA0, 0x202F, 0x205F, 0x3000, *range(0x2002, 0x200B))), " "),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "〜": "~",
}
_PLAIN = {**QUOTES, **WIDTHS, **dict.fromkeys("\u00ad\u200b\u2060\ufeff", "")}
_MARKS = "\u0300-\u036f\u3099\u309a\uff9e\uff9f"
_FANCY = (
    f"[^\\s{_MARKS}][{_MARKS}]+"
    "|[\u00a0-\u00bf\u0132-\u0149\u01c4-\u01f3\u02b0-\u02dd\u1d2c-\u1dbf\u2000-\u2bff\u2e80-\u2fdf\u3000-\u303f"
    "\u309b-\u309f\u30ff\u3131-\u33ff\uf900-\ufeff\uff00-\uffef\U0001d400-\U0001d7ff\U0001f100-\U0001f2ff]"
)
_DROPPED = r"((?<![ \t\u3000\xa0])[ \t\u3000\xa0]++(?=\r?\n|\Z)|\r(?=\n))"
_IN_ASCII, _IN_ANY, _CHARACTERS = map(re.compile, (_DROPPED, f"{_DROPPED}|{_FANCY}", _FANCY))


def plain(text: str) -> str:
    """`text` in its plainest spelling; blanks at line ends stay."""
    return text if text.isascii() else _CHARACTERS.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    known = _PLAIN.get(found[0])
    return known if known is not None else unicodedata.normalize("NFKC", found[0])


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its plainest spelling without blanks at line ends, and where each stretch of it stood."""

    text: str
    ours: list[int]
    """Where a stretch begins in `text`."""
    theirs: list[int]
    """Where it begins in the original."""
    spelled: frozenset[int]
    """Numbers of the stretches that are one character spelled by others; the rest go character by character."""

    @classmethod
    def of(cls, text: str) -> Folded:
        pieces, ours, theirs, spelled = list[str](), [0], [0], set[int]()
        done = length = 0
        for found in (_IN_ASCII if text.isascii() else _IN_ANY).finditer(text):
            instead = "" if found[1] is not None else _spelled(found)
            if instead == found[0]:
                continue
            pieces += (text[done : found.start()], instead)
            length += found.start() - done
            done = found.end()
            if len(instead) == len(found[0]) == 1:
                length += 1
                continue
            if instead:
                spelled.add(len(ours))
                ours.append(length)
                theirs.append(found.start())
                length += len(instead)
            ours.append(length)
            theirs.append(done)
        return cls("".join((*pieces, text[done:])), ours, theirs, frozenset(spelled))

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Where `text[start:end]`, which is not empty, stood; None where that would cut a character."""
        first, last = bisect_right(self.ours, start) - 1, bisect_right(self.ours, end - 1) - 1
        if first in self.spelled and self.ours[first] != start:
            return None
        begin = self.theirs[first] + start - self.ours[first]
        if last not in self.spelled:
            return begin, self.theirs[last] + end - self.ours[last]
        return (begin, self.theirs[last + 1]) if self.ours[last + 1] == end else None
