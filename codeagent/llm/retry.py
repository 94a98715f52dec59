"""Tries again what failed in passing: longer and longer waits with jitter, at least as long as the endpoint asks.

Where there is no network, or it asks for longer than anybody waits, there is no point in asking early: the error goes
on at once. So does that of a summary: the turn can go on without one, and would only wait.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from codeagent.core.errors import Offline, PassingError
from codeagent.core.events import Retrying
from codeagent.core.ports import Provider, Request, StreamItem
from codeagent.llm.errors import LONGEST_OBEYED

FIRST_WAIT = 0.5
LONGEST_WAIT = 32.0


class RetryingProvider:
    """A provider that forgives: before each wait it says so by a `Retrying` item, and what came before that is void."""

    def __init__(
        self,
        provider: Provider,
        retries: int,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`jitter` gives numbers from 0 to 1."""
        self._provider = provider
        self._retries = retries
        self._sleep = sleep
        self._jitter = jitter

    async def warm(self) -> None:
        await self._provider.warm()

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        attempt, retries = 0, self._retries if request.purpose == "turn" else 0
        while True:
            try:
                # Providers stream by generators; one that is left early must close its connection at once.
                stream = cast("AsyncGenerator[StreamItem]", self._provider.stream(request))
                async with aclosing(stream) as items:
                    async for item in items:
                        yield item
                return
            except PassingError as error:
                attempt += 1
                if attempt > retries or isinstance(error, Offline) or (error.retry_after or 0) > LONGEST_OBEYED:
                    raise
                wait = self._wait(attempt, error.retry_after)
                failure = error
            skipped = asyncio.Event()
            yield Retrying(failure, attempt, retries, wait, skipped.set)
            await self._rest(wait, skipped)

    async def _rest(self, wait: float, skipped: asyncio.Event) -> None:
        """Wait, but no longer than until the person has had enough of it."""
        waits = {asyncio.ensure_future(self._sleep(wait)), asyncio.ensure_future(skipped.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    async def aclose(self) -> None:
        await self._provider.aclose()

    def _wait(self, attempt: int, asked: float | None) -> float:
        full: float = min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT)
        return max(asked or 0.0, full * (0.75 + self._jitter() / 2))
