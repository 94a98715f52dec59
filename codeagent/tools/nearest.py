"""The passage of a text that comes nearest to one that was not found."""

from __future__ import annotations

import difflib

from codeagent.tools.adapting import canonical_char
from codeagent.tools.bounds import clip

_SHOWN = 20
_LINE = 200
_COMPARED = 5_000


def nearest_passage(text: str, wanted: str) -> str:
    """Numbered lines of the nearest passage, "" when nothing comes near."""
    lines = text.split("\n")
    bodies = [canonical_char(line).strip() for line in lines]
    sought = [body for line in wanted.split("\n") if (body := canonical_char(line).strip())]
    if not sought:
        return ""
    span = min(wanted.strip("\n").count("\n") + 1, _SHOWN)
    start = _most_shared(bodies, set(sought), span)
    if start is None:
        start = _most_alike(bodies, max(sought, key=len))
    if start is None:
        return ""
    return "\n".join(f"{start + n + 1}\t{clip(line, _LINE)}" for n, line in enumerate(lines[start : start + span]))


def _most_shared(bodies: list[str], sought: set[str], span: int) -> int | None:
    """First line of the window that has most of the wanted lines; long lines count more than brackets."""
    weights = [len(body) if body in sought else 0 for body in bodies]
    best, best_weight = None, 3
    weight = sum(weights[: span - 1])
    for start in range(len(bodies)):
        weight += weights[start + span - 1] if start + span - 1 < len(bodies) else 0
        if weight > best_weight:
            best, best_weight = start, weight
        weight -= weights[start]
    return best


def _most_alike(bodies: list[str], line: str) -> int | None:
    candidates = list({body: None for body in bodies if body and len(line) / 2 <= len(body) <= 2 * len(line)})
    near = difflib.get_close_matches(line[:500], candidates[:_COMPARED], n=1, cutoff=0.6)
    return bodies.index(near[0]) if near else None
