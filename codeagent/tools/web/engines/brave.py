"""Brave Search."""

from __future__ import annotations

from urllib.parse import urlencode

from codeagent.tools.web.engine import RESULTS, EngineKind, Question


def _ask(url: str, key: str, query: str) -> Question:
    asked = urlencode({"q": query, "count": RESULTS, "text_decorations": "false"})
    return Question(f"{url}?{asked}", {"X-Subscription-Token": key, "Accept": "application/json"})


ENGINE = EngineKind(
    "brave",
    "BRAVE_API_KEY",
    "https://api.search.brave.com/res/v1/web/search",
    _ask,
    lambda answer: answer.get("web", {}).get("results", ()),
    ("title", "url", "description"),
)
