"""Bocha (博查), which can be reached from within China."""

from __future__ import annotations

from codeagent.tools.web.engine import RESULTS, EngineKind, Question


def _ask(url: str, key: str, query: str) -> Question:
    return Question(
        url, {"Authorization": f"Bearer {key}"}, "POST", {"query": query, "count": RESULTS, "summary": True}
    )


ENGINE = EngineKind(
    "bocha",
    "BOCHA_API_KEY",
    "https://api.bochaai.com/v1/web-search",
    _ask,
    lambda answer: answer["data"]["webPages"]["value"],
    ("name", "url", "summary"),
)
