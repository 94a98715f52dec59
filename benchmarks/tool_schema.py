"""What each tool's schema costs in tokens, exact (o200k) and estimated, and all of them together.

    python -m benchmarks.tool_schema

Exact counts need the extra `tokenizer`.
"""

from __future__ import annotations

from benchmarks._measure import row
from codeagent.core.messages import encode_json
from codeagent.core.plugins import discover
from codeagent.core.tokens import estimate_classes
from codeagent.core.tools import Tool
from codeagent.memory.estimators import make_estimate
from codeagent.tools import builtin
from codeagent.tools.base import schema

MOST = 3_500
"""Tokens that all together may take."""


def tools() -> list[Tool]:
    found: list[Tool] = list(discover(builtin, "TOOL").values())
    return sorted(found, key=lambda tool: (tool.order, tool.name))


def encoded(chosen: list[Tool]) -> bytes:
    """The schemas as a request carries them."""
    return encode_json([schema(tool) for tool in chosen])


def main() -> None:
    exact = make_estimate("exact")
    row("tool", "o200k", "estimate", "bytes")
    for name, chosen in [*((tool.name, [tool]) for tool in tools()), ("all", tools())]:
        data = encoded(chosen)
        row(name, f"{exact(data):,}", f"{estimate_classes(data):,}", f"{len(data):,}")


if __name__ == "__main__":
    main()
