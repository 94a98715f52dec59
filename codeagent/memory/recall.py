"""The block of facts that travels to the model, and which facts are in its context already."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from codeagent.core.ports import Recalled
from codeagent.memory.entry import Fact
from codeagent.memory.retriever import Hit

_CJK = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z]+")


class FactBlock:
    """Renders facts that were found, each once between two safe points, within a budget of tokens for all of them."""

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
        heading = "## 相关长期记忆" if chinese else "## Relevant long-term memory"
        left = self._left - self._estimate(heading)
        lines: list[str] = []
        ids: list[str] = []
        for fact in (hit.fact for hit in hits):
            if (fact.id, fact.updated) in self._injected:
                continue
            line = self._line(fact, chinese)
            size = self._estimate(line)
            if size > left:
                continue
            left -= size
            lines.append(line)
            ids.append(fact.id)
            self._injected.add((fact.id, fact.updated))
        if not lines:
            return Recalled("")
        self._left = left
        return Recalled("\n".join([heading, *lines]), tuple(ids))

    def _line(self, fact: Fact, chinese: bool) -> str:
        """One fact; none takes more than half of the budget, so that a long one is found in part, not never."""
        content = fact.content.replace("\n", "\n  ")
        line = f"- [{fact.id}, {_age(fact.age(self._clock()), chinese)}] {content}"
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
