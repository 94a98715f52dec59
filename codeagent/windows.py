"""How large the context window of a model is (L5)."""

from __future__ import annotations

import json
from pathlib import Path

from codeagent.core.events import Notice
from codeagent.core.ports import Endpoint
from codeagent.llm import probe
from codeagent.settings.trust import write_private

UNKNOWN_WINDOW = 128_000


async def ask_window(endpoint: Endpoint, cache: Path) -> tuple[int, tuple[Notice, ...]]:
    """Tokens, as the endpoint tells them; asked once, and kept in `cache`. A notice where they are only assumed."""
    asked = _asked(cache)
    place = endpoint.place
    if place not in asked:
        asked[place] = await probe.context_window(endpoint) or 0
        write_private(cache, json.dumps(asked, indent=1).encode())
    if asked[place]:
        return asked[place], ()
    return UNKNOWN_WINDOW, (
        Notice(
            "The context window of {model} is not known; {window:,} tokens are assumed (setting context_window).",
            {"model": endpoint.model, "window": UNKNOWN_WINDOW},
        ),
    )


def _asked(cache: Path) -> dict[str, int]:
    try:
        found = json.loads(cache.read_bytes())
        return {str(place): int(window) for place, window in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
