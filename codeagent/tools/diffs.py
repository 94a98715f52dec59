"""A small diff for the model: changed lines alone, each place headed by its line number. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from codeagent.tools.bounds import clip

_LINE = 200
_COMPARED = 3_000
"""Lines beyond which two passages are not compared line by line."""


def brief_diff(old: Sequence[str], new: Sequence[str], *, first: int = 1, most: int = 40) -> str:
    """`-` lines of `old`, `+` lines of `new`, whose first has the number `first`; at most `most`, and how many more."""
    rows = list(_rows(old, new, first))
    more = len(rows) - most
    return "\n".join([*rows[:most], *([f"[{more} more lines]"] if more > 0 else [])])


def _rows(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[str]:
    same = min(len(old), len(new))
    head = next((n for n in range(same) if old[n] != new[n]), same)
    tail = next((n for n in range(same - head) if old[-1 - n] != new[-1 - n]), same - head)
    old, new, first = old[head : len(old) - tail], new[head : len(new) - tail], first + head
    if max(len(old), len(new)) > _COMPARED:
        yield f"@@ line {first}: {len(old)} lines have become {len(new)}"
        return
    for what, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield f"@@ line {first + k}"
            yield from (f"-{clip(line, _LINE)}" for line in old[i:j])
            yield from (f"+{clip(line, _LINE)}" for line in new[k:m])
