"""The model in use, as the loop sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codeagent.core.entries import Usage
from codeagent.core.ports import Provider
from codeagent.core.tokens import ContextBudget


@dataclass(frozen=True, slots=True)
class Model:
    """One model behind one provider. Another model is another value, taken up at a safe point."""

    name: str
    provider: Provider
    budget: ContextBudget
    cost: Callable[[Usage], float | None] = lambda usage: None
    """US dollars of one reported usage; None when the price is not known."""
    max_tokens: int | None = None
    effort: str | None = None
    sees: bool = True
    """Whether it is worth showing it pictures; an endpoint that refuses them is sent their names instead."""
