"""What the laws of pairing and prefix say of the serialized messages of requests."""

from __future__ import annotations

import json
from collections.abc import Sequence


def unpaired(messages: Sequence[bytes]) -> list[str]:
    """Ids of calls that are not followed at once by exactly their results, and of results nobody called for."""
    wrong: list[str] = []
    waiting: list[str] = []
    for data in messages:
        message = json.loads(data)
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                wrong.append(message["tool_call_id"])
            continue
        wrong += waiting
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return wrong + waiting


def extends(after: Sequence[bytes], before: Sequence[bytes]) -> bool:
    """Whether a request begins, byte for byte, with the whole of the one before it."""
    return list(after[: len(before)]) == list(before)
