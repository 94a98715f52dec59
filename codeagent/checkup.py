"""Examining an endpoint, and keeping what was found for the sessions to come (L5)."""

from __future__ import annotations

import asyncio

from codeagent.core.paths import Home
from codeagent.core.ports import Endpoint
from codeagent.llm.doctor import Diagnosis, examine
from codeagent.llm.learning import lessons
from codeagent.windows import keep_window


async def check_up(endpoint: Endpoint, home: Home) -> Diagnosis:
    """What `endpoint` can do; its profile and its window are kept.

    Raises:
        ModelError: it cannot be reached, refuses the key or the model, or does not answer at all.
        StoreError: what was found cannot be kept.
    """
    diagnosis = await examine(endpoint)
    if endpoint.lessons is not None:
        found = lessons(endpoint, diagnosis.profile)
        await asyncio.to_thread(endpoint.lessons.learn, endpoint.place, found)
    if diagnosis.window:
        await asyncio.to_thread(keep_window, home.windows, endpoint.place, diagnosis.window)
    return diagnosis
