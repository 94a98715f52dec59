"""Token estimates and the thresholds that follow from a context window (MEMORY.md 2). Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

# One byte class per UTF-8 lead byte; continuation bytes are dropped by translate().
_CONTINUATION = bytes(range(0x80, 0xC0))


def _classes() -> bytes:
    table = bytearray(b"." * 256)
    for byte in range(256):
        char = chr(byte)
        if byte < 0x80:
            if char.islower():
                table[byte] = ord("a")
            elif char.isupper():
                table[byte] = ord("A")
            elif char.isdigit():
                table[byte] = ord("0")
            elif char in " \t":
                table[byte] = ord("s")
            elif char in "\n\r":
                table[byte] = ord("n")
            elif char == "_":
                table[byte] = ord("_")
        elif byte <= 0xE1:
            table[byte] = ord("L")
        elif byte == 0xE2:
            table[byte] = ord("S")
        elif byte == 0xE3:
            table[byte] = ord("J")
        elif byte <= 0xE9:
            table[byte] = ord("C")
        elif byte <= 0xED:
            table[byte] = ord("H")
        elif byte >= 0xF0:
            table[byte] = ord("E")
    return bytes(table)


_TABLE = _classes()
_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (b".", 0.15), (b"n", 1.48), (b"C", 0.78), (b"0", 1.12), (b"E", 3.43), (b"a", 0.05), (b"J", 0.68), (b"A", 0.22),
    (b"sL", 2.1), (b"aL", 2.77), (b"S", 0.82), (b"0A", 3.14), (b"s", 0.09), (b"0a", 1.16), (b".a", 1.46),
    (b"_", 1.02), (b"as", 0.74), (b"s.", 0.83), (b"Aa", 1.02), (b"HH", 1.92), (b".0", 0.53),
)  # fmt: skip


def estimate_classic(text: str) -> int:
    """The simplest rule: 1.5 CJK characters a token, 4 others, rounded up."""
    cjk = sum(1 for char in text if "\u4e00" <= char <= "\u9fff")
    return math.ceil(cjk / 1.5 + (len(text) - cjk) / 4)


def estimate_classes(data: bytes) -> int:
    """Tokens of UTF-8 `data` by weighted counts of character classes and their pairs, 5.5 % off on the mean."""
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
