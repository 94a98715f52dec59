"""What an endpoint tells about itself: its models, and how long a context it takes. Asked once, never required."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from codeagent.core.errors import ModelError
from codeagent.core.ports import Endpoint
from codeagent.llm.presets import is_local
from codeagent.llm.providers.openai_chat import OpenAIChat

_WINDOW_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")


async def list_models(endpoint: Endpoint) -> list[str]:
    """The names of the models that the endpoint lists, in its order.

    Raises:
        ModelError: it cannot be reached, refuses the key, or lists nothing.
    """
    async with aclosing(OpenAIChat(endpoint)) as client:
        return [str(entry["id"]) for entry in _entries(await client.fetch("/models")) if entry.get("id")]


async def context_window(endpoint: Endpoint) -> int | None:
    """The context length of the endpoint's model in tokens, as far as the endpoint tells; None when it does not."""
    async with aclosing(OpenAIChat(endpoint)) as client:
        if is_local(endpoint.base_url) and (found := await _ask_local(client, endpoint)):
            return found
        for entry in _entries(await _fetch(client, "/models")):
            if entry.get("id") == endpoint.model:
                return next((_count(entry[key]) for key in _WINDOW_KEYS if _count(entry.get(key))), None)
    return None


async def _ask_local(client: OpenAIChat, endpoint: Endpoint) -> int | None:
    """The window that a local server runs with, which may be far below what the model could."""
    root = re.sub(r"/v1/?$", "", endpoint.base_url)
    props = await _fetch(client, f"{root}/props")
    settings = props.get("default_generation_settings")
    if isinstance(settings, Mapping) and (found := _count(settings.get("n_ctx"))):
        return found
    for running in _entries(await _fetch(client, f"{root}/api/ps"), "models"):
        if running.get("model") == endpoint.model and (found := _count(running.get("context_length"))):
            return found
    shown = await _fetch(client, f"{root}/api/show", {"model": endpoint.model})
    if set_by_hand := re.search(r"num_ctx\s+(\d+)", str(shown.get("parameters", ""))):
        return int(set_by_hand[1])
    info = shown.get("model_info")
    pairs = info.items() if isinstance(info, Mapping) else ()
    return next((_count(value) for key, value in pairs if str(key).endswith(".context_length")), None)


async def _fetch(client: OpenAIChat, path: str, content: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """A JSON object, empty where there is none to be had."""
    try:
        found = await client.fetch(path, content)
    except ModelError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _entries(listing: object, key: str = "data") -> list[Mapping[str, Any]]:
    entries = listing.get(key) if isinstance(listing, Mapping) else listing
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None
