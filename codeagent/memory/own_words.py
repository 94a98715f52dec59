"""Which lines of a message are the person's own words: not what is fenced, quoted, or pasted to be looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from codeagent.text.patterns import late

_FENCE = late(r"\s*(`{3,}|~{3,})")
_COLON = late(r"[:：]\s*$")
_SENTENCES = late(r"(?<=[.!?])\s+|(?<=[。！？])")
_LOOK = (
    r"(?:explain|summari[sz]e|translate|review|read|check|analy[sz]e|debug|describe|proofread|fix|look at|"
    r"what(?:[’']s| is| does| do| are)|why (?:is|does|do))"
)
_THESE = r"(?:this|these|that|those|the (?:following|above|below|text|file|log|output|error|message))"
_LOOK_AT_THIS = late(
    rf"\b{_LOOK}\b.{{0,20}}\b{_THESE}\b"
    r"|(?:解释|解釋|说明|說明|总结|總結|翻译|翻譯|看看|看一下|看下|分析|检查|檢查|修复|修復|审查|審查)"
    r".{0,6}(?:这|這|以下|下面|上面|如下|以上)"
    r"|(?:这|這|以下|下面|上面|以上).{0,8}(?:什么意思|什麼意思|怎么回事|怎麼回事|解释|解釋|总结|總結|翻译|翻譯)",
    re.I,
)


def own_words(said: str, asks: Callable[[str], bool]) -> str:
    """The lines of `said` that are the person's own; `asks` tells whether a line asks to remember something.

    A line that leads in with a colon hands the rest of the message over: to be remembered when it asks for that, to
    be looked at when not. Lines in front of a last line that asks about "this" were pasted too.
    """
    lines = said.splitlines()
    for number, line in enumerate(lines):
        more = any(map(str.strip, lines[number + 1 :]))
        if more and (_COLON.search(line) or _LOOK_AT_THIS.search(line)):
            lead = _SENTENCES.split(line.rstrip())[-1]
            if asks(lead) and not _LOOK_AT_THIS.search(lead):
                return "\n".join([*_spoken(lines[:number]), *lines[number:]])
            return "\n".join(_spoken(lines[: number + 1]))
    filled = [line for line in lines if line.strip()]
    if len(filled) > 1 and _LOOK_AT_THIS.search(filled[-1]):
        return filled[-1]
    return "\n".join(_spoken(lines))


def _spoken(lines: Sequence[str]) -> Iterator[str]:
    """`lines` without fenced blocks, an open one too, and without those marked as quoted."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.lstrip().startswith((">", "＞")):
            yield line
