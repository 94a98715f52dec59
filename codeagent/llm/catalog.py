"""Context windows, output limits and prices of well-known models. Data; what is not known for sure is None."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.entries import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, by the vendor's own list."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    window: int | None = None
    """Tokens that a request may hold together with its reply; less where the vendor bounds requests further."""
    max_output: int | None = None
    price: Price | None = None

    def cost(self, usage: Usage) -> float | None:
        """US dollars, None when the price is unknown."""
        if self.price is None:
            return None
        fresh = usage.prompt_tokens - usage.cached_tokens
        dollars = fresh * self.price.input + usage.cached_tokens * self.price.cached
        return (dollars + usage.completion_tokens * self.price.output) / 1_000_000


def _row(names: str, window: int, output: int | None, *price: float) -> list[ModelInfo]:
    return [ModelInfo(name, window, output, Price(*price) if price else None) for name in names.split()]


_KNOWN = {
    info.name: info
    for rows in (
        # OpenAI. The gpt-5 family takes 272 000 tokens of input, whatever the reply.
        _row("gpt-5 gpt-5.1 gpt-5-codex gpt-5.1-codex", 272_000, 128_000, 1.25, 0.125, 10),
        _row("gpt-5-mini gpt-5.1-codex-mini", 272_000, 128_000, 0.25, 0.025, 2),
        _row("gpt-5-nano", 272_000, 128_000, 0.05, 0.005, 0.4),
        _row("gpt-5.2", 272_000, 128_000, 1.75, 0.175, 14),
        _row("gpt-5-chat gpt-5.1-chat", 128_000, 16_384, 1.25, 0.125, 10),
        _row("gpt-4.1", 1_047_576, 32_768, 2, 0.5, 8),
        _row("gpt-4.1-mini", 1_047_576, 32_768, 0.4, 0.1, 1.6),
        _row("gpt-4.1-nano", 1_047_576, 32_768, 0.1, 0.025, 0.4),
        _row("gpt-4o", 128_000, 16_384, 2.5, 1.25, 10),
        _row("gpt-4o-mini", 128_000, 16_384, 0.15, 0.075, 0.6),
        _row("gpt-4-turbo", 128_000, 4_096, 10, 10, 30),
        _row("o3", 200_000, 100_000, 2, 0.5, 8),
        _row("o3-pro", 200_000, 100_000, 20, 20, 80),
        _row("o4-mini", 200_000, 100_000, 1.1, 0.275, 4.4),
        _row("o3-mini", 200_000, 100_000, 1.1, 0.55, 4.4),
        _row("o1", 200_000, 100_000, 15, 7.5, 60),
        # Open weights: priced by whoever hosts them.
        _row("gpt-oss gpt-oss-120b gpt-oss-20b", 131_072, None),
        _row("llama-3.1 llama-3.3 llama3.1 llama3.2 llama3.3", 131_072, None),
        _row("qwen3-coder qwen3-coder-480b-a35b-instruct qwen3-coder-30b-a3b-instruct", 262_144, None),
        _row("qwen3", 40_960, None),
        _row("qwen2.5-coder qwen2.5", 32_768, None),
        _row("deepseek-v3.1 deepseek-v3.2 deepseek-chat-v3.1 deepseek-r1", 131_072, None),
        _row("gemma3 gemma-3 devstral", 131_072, None),
        _row("mistral", 32_768, None),
        # Vendors.
        _row("deepseek-chat", 131_072, 8_192, 0.28, 0.028, 0.42),
        _row("deepseek-reasoner", 131_072, 65_536, 0.28, 0.028, 0.42),
        _row("qwen3-coder-plus qwen3-coder-flash", 1_000_000, 65_536),
        _row("qwen3-max", 262_144, 32_768),
        _row("qwen-plus qwen-flash", 1_000_000, 32_768),
        _row("qwen-max", 32_768, 8_192),
        _row("kimi-k2 kimi-k2-0905-preview kimi-k2-thinking", 262_144, None, 0.6, 0.15, 2.5),
        _row("kimi-k2-0711-preview", 131_072, None, 0.6, 0.15, 2.5),
        _row("kimi-k2-turbo-preview kimi-k2-thinking-turbo", 262_144, None, 1.15, 0.15, 8),
        _row("kimi-k2.5", 262_144, None, 0.6, 0.1, 3),
        _row("kimi-latest", 131_072, None),
        _row("moonshot-v1-8k", 8_192, None),
        _row("moonshot-v1-32k", 32_768, None),
        _row("moonshot-v1-128k", 131_072, None),
        _row("glm-4.5", 131_072, 98_304, 0.6, 0.11, 2.2),
        _row("glm-4.5-air", 131_072, 98_304, 0.2, 0.03, 1.1),
        _row("glm-4.6 glm-4.7", 200_000, 131_072, 0.6, 0.11, 2.2),
        _row("minimax-m2 minimax-m2.1", 204_800, None, 0.3, 0.03, 1.2),
        _row("mistral-medium mistral-medium-latest devstral-medium", 131_072, None, 0.4, 0.4, 2),
        _row("mistral-small mistral-small-latest", 131_072, None, 0.1, 0.1, 0.3),
        _row("codestral codestral-latest", 262_144, None, 0.3, 0.3, 0.9),
        _row("grok-4", 256_000, None, 3, 0.75, 15),
        _row("grok-4-fast grok-4-1-fast", 2_000_000, None, 0.2, 0.05, 0.5),
        _row("grok-code-fast-1", 256_000, None, 0.2, 0.02, 1.5),
        _row("grok-3", 131_072, None, 3, 0.75, 15),
        _row("grok-3-mini", 131_072, None, 0.3, 0.075, 0.5),
        _row("gemini-2.5-pro", 1_048_576, 65_536, 1.25, 0.125, 10),
        _row("gemini-2.5-flash", 1_048_576, 65_536, 0.3, 0.03, 2.5),
        _row("gemini-2.5-flash-lite", 1_048_576, 65_536, 0.1, 0.01, 0.4),
        _row("gemini-3-pro-preview", 1_048_576, 65_536, 2, 0.2, 12),
        _row("claude-opus-4-5", 200_000, 64_000, 5, 0.5, 25),
        _row("claude-opus-4-1 claude-opus-4", 200_000, 32_000, 15, 1.5, 75),
        _row("claude-sonnet-4-5 claude-sonnet-4 claude-3-7-sonnet", 200_000, 64_000, 3, 0.3, 15),
        _row("claude-haiku-4-5", 200_000, 64_000, 1, 0.1, 5),
        _row("claude-3-5-haiku", 200_000, 8_192, 0.8, 0.08, 4),
    )
    for info in rows
}


def look_up(model: str) -> ModelInfo:
    """What is known of `model` by the longest name that it begins with, up to a `-`, `:` or `@`.

    A name with a path ("deepseek/deepseek-chat", "openai/gpt-oss-120b") is somebody's offer of that model: its price is
    not the vendor's and stays unknown.
    """
    _, path, name = model.lower().rpartition("/")
    fits = (known for known in _KNOWN if name == known or (name.startswith(known) and name[len(known)] in "-:@"))
    best = max(fits, key=len, default=None)
    if best is None:
        return ModelInfo(model)
    info = _KNOWN[best]
    return ModelInfo(model, info.window, info.max_output, None if path else info.price)
