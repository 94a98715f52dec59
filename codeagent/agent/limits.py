"""Caps on steps, tokens and money, with a warning at 80 %."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.entries import Spent
from codeagent.core.errors import LimitReached
from codeagent.core.events import Notice

WARN_AT = 0.8


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_steps` counts within one turn, the others over the session. None: no cap."""

    max_steps: int = 200
    max_tokens: int | None = None
    max_usd: float | None = None

    def check(self, step: int, spent: Spent) -> tuple[Notice, ...]:
        """Warnings due before the model call number `step` (from 1) of a turn.

        Raises:
            LimitReached: the call would go over a cap.
        """
        if step > self.max_steps:
            raise LimitReached(
                "Stopped after {steps} model steps.",
                steps=self.max_steps,
                hint="Say “go on” to continue, or raise --max-turns.",
            )
        for name, used, cap, flag in self._caps(spent):
            if used >= cap:
                raise LimitReached(
                    "Stopped: the cap of {cap:,} {name} is used up.",
                    cap=cap,
                    name=name,
                    hint=f"Raise {flag} to go on.",
                )
        return self._warnings(step, spent)

    def _caps(self, spent: Spent) -> list[tuple[str, float, float, str]]:
        caps: list[tuple[str, float, float, str]] = []
        if self.max_tokens is not None:
            caps.append(("tokens", spent.tokens, self.max_tokens, "--max-tokens-total"))
        if self.max_usd is not None and spent.cost_usd is not None:
            caps.append(("US dollars", spent.cost_usd, self.max_usd, "--max-budget-usd"))
        return caps

    def _warnings(self, step: int, spent: Spent) -> tuple[Notice, ...]:
        found = []
        if step == int(self.max_steps * WARN_AT) + 1 and self.max_steps >= 10:
            found.append(
                Notice("{used} of {cap} model steps are used.", {"used": step - 1, "cap": self.max_steps}, "warning")
            )
        found += [
            Notice("{used:,.6g} of {cap:,} {name} are used.", {"used": used, "cap": cap, "name": name}, "warning")
            for name, used, cap, _ in self._caps(spent)
            if used >= cap * WARN_AT
        ]
        return tuple(found)
