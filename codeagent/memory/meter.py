"""How large the next request will be: what the provider counted last, and an estimate of what came after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codeagent.core.entries import Entry, Prompt, Usage
from codeagent.core.ports import Estimate
from codeagent.memory.calibration import Calibration


class Anchor(Protocol):
    """The newest reported usage that counts for the history as it is, and how many of its entries it covers."""

    @property
    def usage(self) -> Usage: ...
    @property
    def entries(self) -> int: ...


class Measured(Protocol):
    """A history, as far as its size goes."""

    @property
    def entries(self) -> Sequence[Entry]: ...
    @property
    def prompt(self) -> Prompt: ...
    @property
    def tokens(self) -> int:
        """Sum of the entries' estimates."""
        ...

    @property
    def anchor(self) -> Anchor | None: ...


class TokenMeter:
    """Counts a request in tokens; each call looks only at what is new since the anchor.

    Estimates are multiplied by what was learned of the endpoint and model so far.
    """

    def __init__(
        self, estimate: Estimate, calibration: Calibration | None = None, place: str = "", *, anchored: bool = True
    ) -> None:
        """`place` names endpoint and model; with `anchored` off the provider's counts only teach the factor."""
        self._estimate = estimate
        self._calibration = calibration
        self._place = place
        self._anchored = anchored
        self._prompt: Prompt | None = None
        self._fixed = 0

    @property
    def factor(self) -> float:
        """Tokens of this endpoint and model for one estimated token."""
        return self._calibration.factor(self._place).value if self._calibration else 1.0

    def request(self, history: Measured) -> int:
        """Tokens of the next request: system text, tools and messages."""
        anchor = self._anchor(history)
        if anchor is None:
            return round(self.factor * (self._fixed_estimate(history.prompt) + history.tokens))
        return anchor.usage.prompt_tokens + round(self.factor * _tokens(history, anchor.entries))

    def estimated(self, history: Measured) -> bool:
        """Whether `request` is an estimate alone."""
        return self._anchor(history) is None

    def fixed(self, prompt: Prompt) -> int:
        """Tokens of what stands before the messages, by estimate."""
        return round(self.factor * self._fixed_estimate(prompt))

    def learn(self, before: Anchor | None, history: Measured) -> None:
        """Compare a newly reported usage with `before`, the anchor that it has taken the place of."""
        after = history.anchor
        if self._calibration is None or before is None or after is None or before.usage.prompt_tokens <= 0:
            return
        reported = after.usage.prompt_tokens - before.usage.prompt_tokens
        self._calibration.learn(self._place, reported, _tokens(history, before.entries, after.entries))

    def save(self) -> None:
        """Keep what was learned; blocks."""
        if self._calibration is not None:
            self._calibration.save()

    def _anchor(self, history: Measured) -> Anchor | None:
        anchor = history.anchor
        return anchor if self._anchored and anchor is not None and anchor.usage.prompt_tokens > 0 else None

    def _fixed_estimate(self, prompt: Prompt) -> int:
        if prompt is not self._prompt:
            self._fixed = self._estimate(prompt.system.encode("utf-8", "replace")) + self._estimate(prompt.tools)
            self._prompt = prompt
        return self._fixed


def _tokens(history: Measured, start: int, end: int | None = None) -> int:
    return sum(entry.tokens for entry in history.entries[start:end])
