"""The block of memories that travels to the model, and which of them are in its context already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from codeagent.core.ports import Recalled
from codeagent.memory.entry import Fact, Source
from codeagent.memory.retriever import LONG_TERM, TOP, Hit, Retriever
from codeagent.memory.short_term import MemoryEntry

_CJK = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z]+")

_EARLIER = Source("conversation")
HEADINGS = {
    "zh": ("## 相关长期记忆", "## 本次对话的早先内容"),
    "en": ("## Relevant long-term memory", "## From earlier in this conversation"),
}


def candidates(facts: Sequence[Fact], earlier: Iterable[MemoryEntry]) -> list[Fact]:
    """All that `find` looks through, what was said earlier in the form of facts."""
    return [
        *facts,
        *(Fact(entry.id, entry.content, entry.kind, updated=entry.at, source=_EARLIER) for entry in earlier),
    ]


def find(
    retriever: Retriever, said: str, facts: Sequence[Fact], earlier: Iterable[MemoryEntry], *, top: int = TOP
) -> list[Hit]:
    """The best of both kinds of memory: long-term ones weigh 1.2, what was said earlier in this session 1.0."""
    both = candidates(facts, earlier)
    if len(both) == len(facts):
        return retriever.search(said, facts, top=top)
    hits = retriever.search(said, both, top=None)
    weighed = [Hit(hit.fact, hit.score / LONG_TERM) if hit.fact.source is _EARLIER else hit for hit in hits]
    return sorted(weighed, key=lambda hit: hit.score, reverse=True)[:top]


class FactBlock:
    """Renders what was found, each once between two safe points, within a budget of tokens for all of it."""

    def __init__(self, tokens: int, estimate: Callable[[str], int], clock: Callable[[], datetime]) -> None:
        self._tokens = tokens
        self._estimate = estimate
        self._clock = clock
        self._left = tokens
        self._injected: set[tuple[str, str]] = set()

    def reset(self) -> None:
        """Nothing is in the context any more."""
        self._left = self._tokens
        self._injected.clear()

    def take(self, said: str, hits: Sequence[Hit]) -> Recalled:
        """The block for the best of `hits` that are not in the context yet and fit; they count as injected then."""
        chinese = mostly_chinese(said)
        headings = HEADINGS["zh" if chinese else "en"]
        left = self._left
        lines: tuple[list[str], list[str]] = ([], [])
        ids: list[str] = []
        for fact in (hit.fact for hit in hits):
            if (fact.id, fact.updated) in self._injected:
                continue
            line, part = self._line(fact, chinese), lines[fact.source is _EARLIER]
            size = self._estimate(line) + (0 if part else self._estimate(headings[part is lines[True]]))
            if size > left:
                continue
            left -= size
            part.append(line)
            ids.append(fact.id)
            self._injected.add((fact.id, fact.updated))
        if not ids:
            return Recalled("")
        self._left = left
        parts = ["\n".join([heading, *part]) for heading, part in zip(headings, lines, strict=True) if part]
        return Recalled("\n\n".join(parts), tuple(ids))

    def _line(self, fact: Fact, chinese: bool) -> str:
        """One fact; none takes more than half of the budget, so that a long one is found in part, not never."""
        content = fact.content.replace("\n", "\n  ")
        whose = f"{fact.type}, " if fact.source is _EARLIER else ""
        line = f"- [{fact.id}, {whose}{_age(fact.age(self._clock()), chinese)}] {content}"
        size, longest = self._estimate(line), self._tokens // 2
        return line if size <= longest else f"{line[: len(line) * longest // size]} …"


def mostly_chinese(text: str) -> bool:
    """More Chinese characters than Latin words."""
    return len(_CJK.findall(text)) > len(_LATIN.findall(text))


def _age(hours: float, chinese: bool) -> str:
    if hours == float("inf"):
        return "时间不详" if chinese else "age unknown"
    if hours < 24:
        return f"{int(hours)} 小时前" if chinese else f"{int(hours)} h old"
    return f"{int(hours / 24)} 天前" if chinese else f"{int(hours / 24)} days old"
