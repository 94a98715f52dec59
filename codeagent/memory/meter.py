"""How large the next request will be: what the provider counted last, and an estimate of what came after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codeagent.core.entries import Entry, Prompt, Usage
from codeagent.core.ports import Estimate


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
    """Counts a request in tokens; each call looks only at what is new since the anchor."""

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate
        self._prompt: Prompt | None = None
        self._fixed = 0

    def request(self, history: Measured) -> int:
        """Tokens of the next request: system text, tools and messages."""
        anchor = history.anchor
        if anchor is None or anchor.usage.prompt_tokens <= 0:
            return self.fixed(history.prompt) + history.tokens
        return anchor.usage.prompt_tokens + sum(entry.tokens for entry in history.entries[anchor.entries :])

    def fixed(self, prompt: Prompt) -> int:
        """Tokens of what stands before the messages, by estimate."""
        if prompt is not self._prompt:
            self._fixed = self._estimate(prompt.system.encode("utf-8", "replace")) + self._estimate(prompt.tools)
            self._prompt = prompt
        return self._fixed
