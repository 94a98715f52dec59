"""Caps on steps, tokens and money, with a warning at 80 %."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.core.entries import Spent
from codeagent.core.errors import LimitReached
from codeagent.core.events import Notice

WARN_AT = 0.8


@dataclass(frozen=True, slots=True)
class _Cap:
    name: str
    flag: str
    most: float
    used: float
    before: float
    """Used at the check before."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_steps` counts within one turn, the others over the session. None: no cap."""

    max_steps: int = 200
    max_tokens: int | None = None
    max_usd: float | None = None
    max_seconds: float | None = None
    """Of one turn: looked at before each model call, no call or tool is broken off."""

    def check(
        self, step: int, spent: Spent, before: Spent, *, seconds: float = 0.0, seconds_before: float = 0.0
    ) -> tuple[Notice, ...]:
        """Warnings due before the model call number `step` (from 1) of a turn, each once a turn.

        Args:
            before: what was spent at the check before this one; nothing at the first of a turn.
            seconds, seconds_before: how long the turn has lasted, and had then.

        Raises:
            LimitReached: the call would go over a cap.
        """
        if step > self.max_steps:
            raise LimitReached(
                "Stopped after {steps} model steps.",
                steps=self.max_steps,
                hint="Say “go on” to continue, or raise --max-turns.",
            )
        caps = tuple(self._caps(spent, before))
        if self.max_seconds is not None:
            caps += (_Cap("seconds", "--timeout", self.max_seconds, seconds, seconds_before),)
        for cap in caps:
            if cap.used >= cap.most:
                raise LimitReached(
                    "Stopped: the cap of {cap:,} {name} is used up.",
                    cap=cap.most,
                    name=cap.name,
                    hint=f"Raise {cap.flag} to go on.",
                )
        return (*self._warnings(step, caps), *self._blind(spent, before))

    def _caps(self, spent: Spent, before: Spent) -> Iterator[_Cap]:
        if self.max_tokens is not None:
            yield _Cap("tokens", "--max-tokens-total", self.max_tokens, spent.tokens, before.tokens)
        if self.max_usd is not None and spent.cost_usd is not None:
            yield _Cap("US dollars", "--max-budget-usd", self.max_usd, spent.cost_usd, before.cost_usd or 0.0)

    def _warnings(self, step: int, caps: tuple[_Cap, ...]) -> Iterator[Notice]:
        if step == int(self.max_steps * WARN_AT) + 1 and self.max_steps >= 10:
            yield Notice("{used} of {cap} model steps are used.", {"used": step - 1, "cap": self.max_steps}, "warning")
        for cap in caps:
            if cap.before < cap.most * WARN_AT <= cap.used:
                yield Notice(
                    "{used:,.6g} of {cap:,} {name} are used.",
                    {"used": cap.used, "cap": cap.most, "name": cap.name},
                    "warning",
                )

    def _blind(self, spent: Spent, before: Spent) -> Iterator[Notice]:
        """A cap on money that cannot be kept."""
        if self.max_usd is not None and spent.cost_usd is None and before.cost_usd is not None:
            yield Notice(
                "The price of this model is not known: the cap of {cap:,} US dollars cannot be kept.",
                {"cap": self.max_usd},
                "warning",
            )
