"""What each tool's schema costs in tokens, exact (o200k) and estimated, and what stands before every conversation: how
the agent works and the tools it is offered, without what differs by machine and project.

    python -m benchmarks.tool_schema

Exact counts need the extra `tokenizer`.
"""

from __future__ import annotations

from benchmarks._measure import row
from codeagent.core.messages import encode_json
from codeagent.core.plugins import discover
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.core.tools import Tool
from codeagent.memory.estimators import make_estimate
from codeagent.prompting.prompt import system_section
from codeagent.toolkit import NEEDED
from codeagent.tools import builtin
from codeagent.tools.base import schema, terse_schema

MOST = 3_500
"""Tokens that all together may take."""


def tools() -> list[Tool]:
    found: list[Tool] = list(discover(builtin, "TOOL").values())
    return sorted(found, key=lambda tool: (tool.order, tool.name))


def encoded(chosen: list[Tool]) -> bytes:
    """The schemas as a request carries them."""
    return encode_json([schema(tool) for tool in chosen])


def fixed(budget: ContextBudget) -> bytes:
    """System text and schemas, where no web search is set up and files are changed by passages."""
    chosen = [tool for tool in tools() if tool.name not in ("web_search", "apply_patch")]
    if budget.cramped:
        chosen = [tool for tool in chosen if tool.name in NEEDED]
    describe = terse_schema if budget.cramped else schema
    text = system_section(terse=budget.cramped).render()
    return text.encode() + encode_json([describe(tool) for tool in chosen])


def main() -> None:
    exact = make_estimate("exact")
    row("tool", "o200k", "estimate", "bytes")
    for name, chosen in [*((tool.name, [tool]) for tool in tools()), ("all", tools())]:
        data = encoded(chosen)
        row(name, f"{exact(data):,}", f"{estimate_classes(data):,}", f"{len(data):,}")
    for name, window in (("fixed part", 128_000), ("fixed part in a window of 8k", 8_000)):
        data = fixed(ContextBudget(window))
        row(name, f"{exact(data):,}", f"{estimate_classes(data):,}", f"{len(data):,}")


if __name__ == "__main__":
    main()
