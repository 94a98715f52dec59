"""What providers count against what we estimate: one learned factor for each endpoint and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import StoreError
from codeagent.core.private import make_private
from codeagent.memory.backends._file import put
from codeagent.memory.backends._lock import locked

LEAST, MOST = 0.5, 2.0
_FADE = 0.95
"""What an observation still weighs after the next one."""
_FIRST = 4_000.0
"""Tokens of an imagined observation of factor 1, so that the first real one does not decide alone."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A moving average: each growth of a request, as the provider counted it and as we estimated it, fading."""

    reported: float = _FIRST
    estimated: float = _FIRST

    @property
    def value(self) -> float:
        return min(MOST, max(LEAST, self.reported / self.estimated))

    def learn(self, reported: int, estimated: int) -> Factor:
        """With one more growth. What did not grow, or by more than the bounds allow, was counted otherwise: a proxy
        or the server cut the conversation, or reasoning left it."""
        if estimated <= 0 or not LEAST / 4 <= reported / estimated <= MOST * 4:
            return self
        return Factor(self.reported * _FADE + reported, self.estimated * _FADE + estimated)


UNKNOWN = Factor()


class Calibration:
    """The factors of one home, kept in `calibration.json`: read once, written at the end, with what others learned."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._factors: dict[str, Factor] | None = None
        self._learned: set[str] = set()
        self._damaged = False

    def factor(self, place: str) -> Factor:
        """Of an endpoint and model."""
        if self._factors is None:
            self._factors = self._read()
        return self._factors.get(place, UNKNOWN)

    def learn(self, place: str, reported: int, estimated: int) -> None:
        """Tokens by which a request grew: as reported, and as estimated without the factor."""
        before = self.factor(place)
        after = before.learn(reported, estimated)
        if after != before and self._factors is not None:
            self._factors[place] = after
            self._learned.add(place)

    def save(self) -> None:
        """Write what was learned here, or in the place of a damaged file; blocks. What cannot be written is learned
        again."""
        if self._factors is None or not (self._learned or self._damaged):
            return
        with suppress(OSError, StoreError):
            make_private(self._path.parent)
            with locked(self._path.with_name(self._path.name + ".lock")):
                put(self._path, _to_json({**self._read(), **{place: self._factors[place] for place in self._learned}}))
            self._learned.clear()
            self._damaged = False

    def _read(self) -> dict[str, Factor]:
        """Whatever is not a factor is passed over: it can be learned again."""
        try:
            form = json.loads(self._path.read_bytes())
        except OSError:
            return {}
        except (ValueError, RecursionError):
            self._damaged = True
            return {}
        factors = form.get("factors") if isinstance(form, dict) else None
        found = {place: _factor(value) for place, value in factors.items()} if isinstance(factors, dict) else {}
        return {place: factor for place, factor in found.items() if factor is not None}


def _factor(form: object) -> Factor | None:
    if not isinstance(form, dict):
        return None
    reported, estimated = _count(form.get("reported")), _count(form.get("estimated"))
    return Factor(reported, estimated) if reported and estimated else None


def _count(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 1 <= value < 1e12 else None


def _to_json(factors: Mapping[str, Factor]) -> bytes:
    rows = {place: _row(factor) for place, factor in sorted(factors.items())}
    return json.dumps({"version": 1, "factors": rows}, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def _row(factor: Factor) -> dict[str, float]:
    """The sums are what is read again, the factor is for people."""
    return {
        "factor": round(factor.value, 4),
        "reported": round(factor.reported, 1),
        "estimated": round(factor.estimated, 1),
    }
