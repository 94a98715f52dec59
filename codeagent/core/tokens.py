"""Token estimates and the thresholds that follow from a context window (MEMORY.md 2). Pure arithmetic."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# One byte class per UTF-8 lead byte; continuation bytes are dropped by translate().
_CONTINUATION = bytes(range(0x80, 0xC0))
_CJK = re.compile("[\u4e00-\u9fff]+")


def _classes() -> bytes:
    """Class of a character by its first byte: a lower, A upper, 0 digit, s blank, n newline, _, L Latin to Arabic,
    I Indic to Georgian, S symbols, J kana and CJK punctuation, C Chinese, H Hangul, F full width, E emoji, . the rest.
    """
    table = bytearray(b"." * 256)
    members = {
        "a": range(0x61, 0x7B), "A": range(0x41, 0x5B), "0": range(0x30, 0x3A), "_": b"_", "s": b" \t", "n": b"\n\r",
        "L": range(0xC2, 0xE0), "I": range(0xE0, 0xE2), "S": b"\xe2", "J": b"\xe3", "C": range(0xE4, 0xEA),
        "H": range(0xEA, 0xEE), "F": range(0xEE, 0xF0), "E": range(0xF0, 0x100),
        "x": b"\x1b",  # escape weighs nothing: what follows it is counted
    }  # fmt: skip
    for name, leads in members.items():
        for byte in leads:
            table[byte] = ord(name)
    return bytes(table)


_TABLE = _classes()
# Fitted on windows of 2 000 characters of prose, code, diffs, logs, tables and a dozen languages, to the counts of
# o200k, Qwen 3.6 and DeepSeek and to the largest of the three, all at once; checked on windows left out of the fit.
_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (b".", 0.21), (b"0", 0.51), (b"A", 0.28), (b"C", 0.71), (b"E", 2.43), (b"F", 1.5), (b"H", 0.76), (b"I", 0.31),
    (b"J", 0.64), (b"L", 0.35), (b"S", 0.54), (b"_", 0.17), (b"a", 0.05), (b"n", 0.38), (b".0", 0.95), (b"0a", 1.51),
    (b"A0", 3.0), (b"Aa", 0.67), (b"_a", 0.84), (b"a.", 1.34), (b"an", 2.55), (b"as", 0.67), (b"nS", 3.0),
    (b"s.", 1.46), (b"s0", 1.69), (b"sI", 1.18),
)  # fmt: skip


def estimate_classic(text: str) -> int:
    """The simplest rule: 1.5 CJK characters a token, 4 others, rounded up."""
    cjk = 0 if text.isascii() else len(text) - len(_CJK.sub("", text))
    return math.ceil(cjk / 1.5 + (len(text) - cjk) / 4)


def estimate_classes(data: bytes) -> int:
    """Tokens of UTF-8 `data` by weighted counts of character classes and their pairs."""
    classes = data.translate(_TABLE, _CONTINUATION)
    return math.ceil(sum(weight * classes.count(feature) for feature, weight in _WEIGHTS))


def estimate_tokens(text: str) -> int:
    """The default estimate for a text."""
    return estimate_classes(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """The only place where thresholds live; all in tokens (MEMORY.md 2). `ContextProfile` is its public name."""

    window: int

    @property
    def reserve(self) -> int:
        """Kept free for the reply."""
        return min(20_000, self.window // 4)

    @property
    def hard_limit(self) -> int:
        """No request goes above this."""
        return self.window - self.reserve

    @property
    def trigger(self) -> int:
        """Above this the history is compacted before the next model call: 200k -> 167 000, 128k -> 95 000."""
        return self.hard_limit - min(13_000, self.window // 8)

    @property
    def target(self) -> int:
        """A compaction ends below this where it can, so that several steps fit before the next."""
        return self.trigger - max(self.trigger // 4, min(self.trigger // 2, 10_000))

    @property
    def result(self) -> int:
        """One tool result, so that several fit between two compactions: 16k -> 1 000, 32k -> 2 600."""
        return max(self.window // 16, (self.window - 6_000) // 10)

    @property
    def cramped(self) -> bool:
        """The standing part of a request must be as short as can be."""
        return self.window < 12_000

    @property
    def short_term(self) -> int:
        return int(self.window * 0.45)

    def compress_at(self, ratio: float = 0.8) -> int:
        """Short-term memory of this size is compressed; a `ratio` of its budget under 0.5 acts as 0.5."""
        return int(self.short_term * min(1.0, max(0.5, ratio)))

    @property
    def facts(self) -> int:
        """For facts in the context, heads included."""
        return min(5_000, self.window // 200)

    @property
    def static(self) -> int:
        """For CODEAGENT.md layers, beside their 24 000 characters."""
        return self.window // 8


ContextProfile = ContextBudget
