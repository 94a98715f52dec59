"""Another model answers while the one that was asked cannot: the next of a list, told in one line.

A spare reads the same messages without the thoughts of others: a fixed mapping, so that its requests, too, begin with
the ones before. After a while the first is asked again.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from codeagent.core.entries import Usage
from codeagent.core.errors import CodeAgentError, PassingError
from codeagent.core.events import Notice, Retrying
from codeagent.core.images import sized
from codeagent.core.ports import Provider, Reply, Request, StreamItem
from codeagent.core.tokens import estimate_classes
from codeagent.llm.shaping import with_thoughts

REST = 300.0
"""Seconds after which the first model is asked again."""


@dataclass(frozen=True, slots=True)
class Spare:
    """A model that can stand in."""

    name: str
    provider: Provider
    room: int
    """Tokens that a request may have."""
    cost: Callable[[Usage], float | None]


Open = Callable[[], Awaitable[Spare]]


class FallbackProvider:
    """The first model while it answers, else the first of the spares that does."""

    def __init__(
        self, first: Provider, name: str, spares: Sequence[Open], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`name` is the first model's; `spares` are opened when they are needed."""
        self._first = first
        self._name = name
        self._open = spares
        self._opened: dict[int, Spare] = {}
        self._clock = clock
        self._at = 0
        """Who answers: 0 the first, n the spare of that number."""
        self._since = 0.0

    async def warm(self) -> None:
        await self._first.warm()

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        before = self._at
        if self._at and self._clock() - self._since >= REST:
            self._at = 0
        failure: CodeAgentError | None = None
        for place in range(self._at, len(self._open) + 1):
            begun = False
            try:
                async with aclosing(self._ask(place, request, failure)) as items:
                    async for item in items:
                        begun = begun or not isinstance(item, Notice | Retrying)
                        if isinstance(item, Reply):
                            for notice in self._settled(place, before):
                                yield notice
                        yield item
                return
            except PassingError as error:
                failure = error
                if begun:
                    yield Retrying(error, 1, 1, 0.0)
            except CodeAgentError as error:
                if not place:
                    raise
                yield Notice("{error}", {"error": str(error)}, "warning")
        assert failure is not None
        raise failure

    def _settled(self, place: int, before: int) -> Sequence[Notice]:
        """`place` has answered, where `before` had until now."""
        if place != self._at:
            self._since = self._clock()
        self._at = place
        return () if place or not before else (Notice("{model} answers again.", {"model": self._name}),)

    async def _ask(
        self, place: int, request: Request, failure: CodeAgentError | None
    ) -> AsyncGenerator[StreamItem, None]:
        if not place:
            async for item in self._items(self._first, request):
                yield item
            return
        spare = await self._spare(place)
        messages = [with_thoughts(message, "never") for message in request.messages]
        if sum(map(_size, messages)) + _size(request.tools) > spare.room:
            raise CodeAgentError("The conversation is too long for {model}.", model=spare.name)
        if failure is not None:
            sentence = "{reason} Going on with {model}."
            yield Notice(sentence, {"reason": str(failure), "model": spare.name}, "warning")
        async for item in self._items(spare.provider, replace(request, model=spare.name, messages=messages)):
            if isinstance(item, Reply):
                cost = spare.cost(item.usage) if item.usage else None
                item = replace(item, model=spare.name, cost_usd=cost)
            yield item

    async def _items(self, provider: Provider, request: Request) -> AsyncGenerator[StreamItem, None]:
        async with aclosing(cast("AsyncGenerator[StreamItem]", provider.stream(request))) as items:
            async for item in items:
                yield item

    async def _spare(self, place: int) -> Spare:
        if place not in self._opened:
            self._opened[place] = await self._open[place - 1]()
        return self._opened[place]

    async def aclose(self) -> None:
        await self._first.aclose()
        for spare in self._opened.values():
            await spare.provider.aclose()


_size = sized(estimate_classes)
