"""The passage of a text that comes nearest to one that was not found, and in what the two differ."""

from __future__ import annotations

import difflib

from codeagent.tools.bounds import clip
from codeagent.tools.diffs import brief_diff
from codeagent.tools.folding import plain

_SHOWN = 20
_LINE = 200
_COMPARED = 5_000
_DIFFERENT = 16


def nearest_passage(text: str, wanted: str) -> str:
    """Numbered lines of the nearest passage, and a small diff to it; "" when nothing comes near."""
    lines = text.split("\n")
    bodies = [plain(line).strip() for line in lines]
    sought = [body for line in wanted.split("\n") if (body := plain(line).strip())]
    if not sought:
        return ""
    span = wanted.strip("\n").count("\n") + 1
    start = _most_shared(bodies, set(sought), span)
    if start is None:
        start = _most_alike(bodies, max(sought, key=len))
    if start is None:
        return ""
    old = [line.rstrip() for line in wanted.strip("\n").split("\n")]
    near = [line.rstrip() for line in lines[start : start + span]]
    same = next((n for n, (one, other) in enumerate(zip(old, near, strict=False)) if one != other), len(near))
    top = max(0, min(same - 3, len(near) - _SHOWN))
    shown = [f"{start + n + 1}\t{clip(near[n], _LINE)}" for n in range(top, min(top + _SHOWN, len(near)))]
    told = "What differs (- as you gave it, + in the file):"
    return "\n".join((*shown, told, brief_diff(old, near, first=start + 1, most=_DIFFERENT)))


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
