"""The three makes of token estimate behind one setting (MEMORY.md 2)."""

from __future__ import annotations

from typing import Literal

from codeagent.core.errors import ConfigError
from codeagent.core.images import sized
from codeagent.core.ports import Estimate
from codeagent.core.tokens import estimate_classes, estimate_classic

Estimator = Literal["classic", "classes", "exact"]

_PART = 48_000
"""Characters; the package refuses what makes more than 200 000 tokens, and no character makes more than four."""


def make_estimate(name: Estimator) -> Estimate:
    """The estimate of that name, over UTF-8 text; pictures in serialized messages count by their size.

    `exact` loads its package here, which takes a second or two.

    Raises:
        ConfigError: the package is not installed.
    """
    match name:
        case "classic":
            return sized(_classic)
        case "exact":
            return sized(_exact())
        case _:
            return sized(estimate_classes)


def _classic(data: bytes) -> int:
    return estimate_classic(data.decode("utf-8", "replace"))


def _exact() -> Estimate:
    """A count with the tokenizer of current OpenAI models; the learned factor makes it fit others."""
    try:
        import bpe_openai
    except ImportError as error:
        raise ConfigError(
            "The exact estimator needs a tokenizer, which is not installed.",
            hint="pip install 'codeagent[tokenizer]', or set memory.estimator to classes.",
        ) from error
    encoding = bpe_openai.get_encoding("o200k_base")

    def estimate(data: bytes) -> int:
        text = data.decode("utf-8", "replace")
        parts = (text[start : start + _PART] for start in range(0, len(text), _PART))
        return sum(len(encoding.encode_ordinary(part)) for part in parts)

    return estimate
