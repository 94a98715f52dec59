"""One request for a summary of what was said, shaped so that the provider's cache of the conversation is read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import cast

from codeagent.core.entries import Usage
from codeagent.core.errors import IncompleteReply
from codeagent.core.messages import UserMessage, blind, encode
from codeagent.core.ports import Provider, Purpose, Reply, Request, StreamItem, Summarize


def make_summarizer(
    provider: Provider,
    model: str,
    max_tokens: int | None = None,
    purpose: Purpose = "summary",
    spend: Callable[[Usage], None] = lambda usage: None,
    patience: float | None = None,
) -> Summarize:
    """A function that asks `model` for a summary; calls it makes instead are ignored, and a cut summary is an error.

    `spend` is told what each request cost; `patience` are the seconds without a word after which it is given up.
    """

    async def summarize(messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        asked = [*map(blind, messages), encode(UserMessage(instruction))]
        request = Request(model, asked, tools, max_tokens=max_tokens, purpose=purpose)
        stream = cast("AsyncGenerator[StreamItem]", provider.stream(request))
        async with aclosing(stream) as items:
            reply = await _reply(items, model, patience)
        if reply is None:
            return ""
        if reply.usage is not None:
            spend(reply.usage)
        if reply.cut:
            raise IncompleteReply("The summary by {model} ran into its length limit.", model=model)
        return reply.message.text.strip()

    return summarize


async def _reply(items: AsyncGenerator[StreamItem], model: str, patience: float | None) -> Reply | None:
    while True:
        try:
            async with asyncio.timeout(patience):
                item = await anext(items, None)
        except TimeoutError:
            message = "{model} said nothing for {seconds:g} s when asked for a summary."
            raise IncompleteReply(message, model=model, seconds=patience) from None
        if item is None or isinstance(item, Reply):
            return item
