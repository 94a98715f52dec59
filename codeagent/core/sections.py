"""A titled, budgeted piece of the prompt."""

from __future__ import annotations

from dataclasses import dataclass

ENVIRONMENT = "Environment"
"""Title of the section that parts what is written by others from what is known of this session."""


@dataclass(frozen=True, slots=True)
class Section:
    """One piece of the system prompt, placed by `order`; what changes from session to session stands last."""

    name: str
    body: str
    title: str = ""
    """Heading shown to the model ("" for none)."""
    order: int = 100

    def render(self) -> str:
        body = self.body.strip("\n")
        return f"# {self.title}\n{body}" if self.title else body
