"""One request for a summary of what was said, shaped so that the provider's cache of the conversation is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codeagent.core.entries import Usage
from codeagent.core.errors import IncompleteReply
from codeagent.core.messages import UserMessage, blind, encode
from codeagent.core.ports import Provider, Purpose, Reply, Request, Summarize


def make_summarizer(
    provider: Provider,
    model: str,
    max_tokens: int | None = None,
    purpose: Purpose = "summary",
    spend: Callable[[Usage], None] = lambda usage: None,
) -> Summarize:
    """A function that asks `model` for a summary; calls it makes instead are ignored, and a cut summary is an error.

    `spend` is told what each request cost.
    """

    async def summarize(messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        asked = [*map(blind, messages), encode(UserMessage(instruction))]
        request = Request(model, asked, tools, max_tokens=max_tokens, purpose=purpose)
        text = ""
        async for item in provider.stream(request):
            if isinstance(item, Reply):
                if item.usage is not None:
                    spend(item.usage)
                if item.cut:
                    raise IncompleteReply("The summary by {model} ran into its length limit.", model=model)
                text = item.message.text.strip()
        return text

    return summarize
