"""Tavily."""

from __future__ import annotations

from codeagent.tools.web.engine import RESULTS, EngineKind, Question


def _ask(url: str, key: str, query: str) -> Question:
    return Question(url, {"Authorization": f"Bearer {key}"}, "POST", {"query": query, "max_results": RESULTS})


ENGINE = EngineKind(
    "tavily",
    "TAVILY_API_KEY",
    "https://api.tavily.com/search",
    _ask,
    lambda answer: answer["results"],
    ("title", "url", "content"),
)
