"""Summaries that others put in the place of a conversation, known by the words that common tools begin them with."""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"session is being continued from a previous conversation"
    r"|<(?:state_snapshot|conversation[ _-]summary|context[ _-]summary|summary_of_conversation)>"
    r"|here(?: is|[’']s) (?:a|the) (?:\w+ )?summary of (?:the|our|this|your) (?:\w+ )?conversation"
    r" (?:so far|to date|history)"
    r"|another language model started to solve this problem"
    r"|(?:previous|earlier) (?:conversation|messages|context|history)[\w ]{0,40} (?:was|were|has been|have been) "
    r"(?:removed|truncated|compacted|compressed|summari[sz]ed|condensed)"
    r"|(?:your|the) (?:context|conversation)(?: history)? (?:was|has been) (?:compacted|compressed|truncated|condensed)"
    r"|\[(?:conversation|context) summary\b"
    r"|(?:以下|下面)是(?:之前|此前|先前|前面|较早)?(?:的)?(?:对话|會話|会话|對話|聊天)(?:历史|记录|内容)?的?(?:摘要|总结|總結)"
    r"|(?:之前|此前|先前|较早)的?(?:对话|會話|会话|上下文)(?:历史|内容)?(?:已|被|已被)(?:压缩|截断|总结|概括|移除)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[#>*_\[(\s-]*(?:(?:this|the|note|notice|some|system|注意|系统)\b[\]):：,*\s]*)*", re.IGNORECASE)
"""What may stand before such words where they begin a message."""
_LOOKED_AT = 2_000
"""Characters; a summary says at once what it is."""


def bears_foreign_mark(text: str) -> bool:
    """Whether `text` begins with, or speaks of, a summary that takes the place of a conversation."""
    return _MARKS.search(text[:_LOOKED_AT]) is not None


def begins_with_foreign_mark(text: str) -> bool:
    """Whether the first words of `text` are those of such a summary; a question that quotes one is none."""
    begin = text.strip()[:_LOOKED_AT]
    label = _LABEL.match(begin)
    return any(_MARKS.match(begin, place) for place in (0, label.end() if label else 0))
