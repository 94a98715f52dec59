"""What sessions have cost, read from their files: by session, model and day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from codeagent.core.entries import Usage
from codeagent.history import records

_HEAD = 100
"""Bytes of a line in which its type stands."""


@dataclass(frozen=True, slots=True)
class Use:
    """One answer of a model, and what it cost."""

    day: str
    """The local date, `2026-01-31`."""
    session: str
    model: str
    usage: Usage
    cost_usd: float | None = None
    """None where the price is not known."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Several of them together."""

    answers: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    """Of those whose price is known."""
    unpriced: int = 0
    """Answers whose price is not known."""
    sessions: frozenset[str] = frozenset()

    def plus(self, use: Use) -> Sum:
        return Sum(
            self.answers + 1,
            self.prompt_tokens + use.usage.prompt_tokens,
            self.cached_tokens + use.usage.cached_tokens,
            self.completion_tokens + use.usage.completion_tokens,
            self.cost_usd + (use.cost_usd or 0.0),
            self.unpriced + (use.cost_usd is None),
            self.sessions | {use.session},
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def money(self) -> str:
        """`$0.1200`, with a word where it is not all."""
        if self.unpriced == self.answers and self.answers:
            return "not known"
        return f"${self.cost_usd:,.4f}" + (" + unknown" if self.unpriced else "")


def add_up(uses: Iterable[Use], key: Callable[[Use], str]) -> dict[str, Sum]:
    """Sums by `key`, in its order."""
    sums: dict[str, Sum] = {}
    for use in uses:
        sums[key(use)] = sums.get(key(use), Sum()).plus(use)
    return dict(sorted(sums.items()))


def uses_in(paths: Iterable[Path]) -> Iterator[Use]:
    """What stands in these session files; what a fork took over counts once. What cannot be read is passed over."""
    seen: set[tuple[object, ...]] = set()
    for path in paths:
        model = ""
        try:
            with path.open("rb") as file:
                for line in file:
                    head = line[:_HEAD]
                    if b'"type":"session"' in head:
                        model = str(_fields(line).get("model", ""))
                    elif b'"type":"usage"' in head and (use := _use(_fields(line), path.stem, model, seen)):
                        yield use
        except OSError:
            continue


def _fields(line: bytes) -> dict[str, Any]:
    try:
        return records.parse(line)
    except records.UNREADABLE:
        return {}


def _use(fields: dict[str, Any], session: str, model: str, seen: set[tuple[object, ...]]) -> Use | None:
    try:
        found = records.read_usage(fields)
        day = datetime.fromisoformat(str(fields["ts"])).astimezone().strftime("%Y-%m-%d")
    except (ValueError, KeyError, OverflowError):
        return None
    mark = (fields["ts"], fields.get("message"), found.usage)
    if mark in seen:
        return None
    seen.add(mark)
    return Use(day, session, found.model or model or "unknown", found.usage, found.cost_usd)
