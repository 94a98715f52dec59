"""/context: what fills the window."""

from __future__ import annotations

from collections import Counter

from codeagent.commands.base import Command, CommandContext, Done, Outcome
from codeagent.core.tokens import estimate_classes, estimate_tokens
from codeagent.core.ui import Table

_KINDS = {"user": "your messages", "steer": "your messages", "model": "answers", "tool": "tool results"}


async def run(args: str, context: CommandContext) -> Outcome:
    history, status = context.session.history, context.session.status()
    budget = context.session.model.budget
    parts = Counter({"system prompt": estimate_tokens(history.prompt.system)})
    if (overview := context.desk.code.overview) and overview in history.prompt.system:
        parts["map of the code"] = estimate_tokens(overview)
        parts["system prompt"] -= parts["map of the code"]
    parts["tool descriptions"] = estimate_classes(history.prompt.tools)
    for entry in history.entries:
        parts[_KINDS.get(entry.origin, "summaries and notes")] += entry.tokens
    rows = [(name, f"{tokens:,}", _bar(tokens, budget.window)) for name, tokens in parts.items()]
    free = max(0, budget.trigger - status.context_tokens)
    rows += [
        ("in use", f"{status.context_tokens:,}", _bar(status.context_tokens, budget.window)),
        ("free until compaction", f"{free:,}", _bar(free, budget.window)),
        ("window", f"{budget.window:,}", ""),
    ]
    context.ui.show(Table(("what", "tokens", "share"), tuple(rows)))
    return Done()


def _bar(tokens: int, window: int) -> str:
    share = tokens / window
    return f"{'█' * round(share * 20):<20} {share:4.0%}"


COMMAND = Command("context", "Show what fills the context window.", run)
