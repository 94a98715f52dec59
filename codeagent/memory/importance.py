"""How much a message matters, by simple signs of it: a number from 0 to 1."""

from __future__ import annotations

import re

from codeagent.core.messages import Message, ToolMessage, UserMessage

POSITION, USER, TOOL, DIGITS, WORDS, EMPTY = 0.4, 0.3, 0.25, 0.1, 0.2, -0.1
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"偏好|记住|不要|必须|过敏|\bmust\b|\bnever\b", re.I)
_EMPTY = re.compile(r"\s*(?:好的|收到|明白了|谢谢|ok(?![A-Za-z]))", re.I)


def importance(message: Message, index: int, total: int) -> float:
    """The weight of message `index` (from 0) of `total`: newer ones, the user's, results and rules weigh more."""
    text = message.text
    score = POSITION * index / total if total else 0.0
    if isinstance(message, UserMessage):
        score += USER
    elif isinstance(message, ToolMessage):
        score += TOOL
    score += DIGITS * bool(_DIGIT.search(text))
    score += WORDS * bool(_WORDS.search(text))
    score += EMPTY * bool(_EMPTY.match(text))
    return min(1.0, max(0.0, score))
