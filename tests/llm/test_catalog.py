"""What is known of models by name."""

from __future__ import annotations

import pytest

from codeagent.core.entries import Usage
from codeagent.llm.catalog import ModelInfo, Price, look_up


@pytest.mark.parametrize(
    ("model", "info"),
    [
        ("deepseek-chat", ModelInfo("deepseek-chat", 131_072, 8_192, Price(0.28, 0.028, 0.42))),
        ("gpt-4.1-mini-2025-04-14", ModelInfo("gpt-4.1-mini-2025-04-14", 1_047_576, 32_768, Price(0.4, 0.1, 1.6))),
        ("claude-sonnet-4-5@20250929", ModelInfo("claude-sonnet-4-5@20250929", 200_000, 64_000, Price(3, 0.3, 15))),
        ("openai/gpt-4.1", ModelInfo("openai/gpt-4.1", 1_047_576, 32_768)),
        ("Qwen3:8b", ModelInfo("Qwen3:8b", 40_960)),
        ("qwen3-coder:30b", ModelInfo("qwen3-coder:30b", 262_144)),
        ("grok-4.9", ModelInfo("grok-4.9")),
        ("o31", ModelInfo("o31")),
        ("", ModelInfo("")),
    ],
)
def test_the_longest_name_that_fits_counts(model: str, info: ModelInfo) -> None:
    assert look_up(model) == info


def test_cached_tokens_cost_less() -> None:
    info = ModelInfo("m", price=Price(2.0, 0.5, 8.0))
    assert info.cost(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 4)
    assert ModelInfo("m").cost(Usage(1, 1)) is None
