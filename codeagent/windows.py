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
    window = _asked(cache).get(endpoint.place)
    if window is None:
        window = await probe.context_window(endpoint) or 0
        keep_window(cache, endpoint.place, window)
    if window:
        return window, ()
    return UNKNOWN_WINDOW, (
        Notice(
            "The context window of {model} is not known; {window:,} tokens are assumed (setting context_window).",
            {"model": endpoint.model, "window": UNKNOWN_WINDOW},
        ),
    )


def keep_window(cache: Path, place: str, window: int) -> None:
    """Keep how long a context the model at `place` takes; 0 where it does not tell. Raises StoreError."""
    write_private(cache, json.dumps({**_asked(cache), place: window}, indent=1).encode())


def _asked(cache: Path) -> dict[str, int]:
    try:
        found = json.loads(cache.read_bytes())
        return {str(place): int(window) for place, window in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
