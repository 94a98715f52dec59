"""What the model is told of plan mode: it stands at the head of messages, for the tools stay the same."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.entries import Entry
from codeagent.core.messages import UserMessage

PLANNING = (
    "[Plan mode: read, search and ask, change nothing and run nothing that does. When you know what to do, present "
    "your plan with exit_plan.]"
)
OVER = "[Plan mode is over: changes are possible again.]"


def plan_head(planning: bool, entries: Sequence[Entry]) -> str:
    """The line for the next message; "" where there is nothing to say. `entries` is what was said before it."""
    if planning:
        return PLANNING
    last = next((entry for entry in reversed(entries) if isinstance(entry.message, UserMessage)), None)
    return OVER if last is not None and PLANNING in last.message.text else ""
