"""A question beside the conversation: asked with all that was said so far, it leaves no trace in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from codeagent.agent.model import Model
from codeagent.core.entries import Prompt
from codeagent.core.errors import CodeAgentError, IncompleteReply
from codeagent.core.events import EndReason, Event, Replied, StepStarted, TurnEnded
from codeagent.core.messages import AssistantMessage, SystemMessage, UserMessage, encode, scrub
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.history.history import History
from codeagent.memory.meter import TokenMeter

_LEAD = (
    "[A question beside the work. Answer it in a few sentences from what you know by now; no tool runs, and neither "
    "question nor answer stays in the conversation.]\n\n"
)


async def ask_aside(
    question: str, model: Model, history: History, meter: TokenMeter, prompt: Prompt
) -> AsyncGenerator[Event]:
    """The events of the answer, the last of them `TurnEnded`. `prompt` is what a conversation without one begins with;
    the request begins with the bytes of the conversation's own, so that the provider's cache of it is read."""
    began = time.perf_counter()
    reason: EndReason = "done"
    failure: CodeAgentError | None = None
    messages = [*history.wire(), encode(UserMessage(_LEAD + scrub(question)))]
    if not history.prompt.system:
        messages[0] = encode(SystemMessage(prompt.system))
    tools = history.prompt.tools if history.prompt.system else prompt.tools
    yield StepStarted(1, meter.request(history))
    try:
        request = Request(model.name, messages, tools, model.max_tokens, model.effort, "aside")
        async with aclosing(cast("AsyncGenerator[StreamItem]", model.provider.stream(request))) as items:
            async for item in items:
                if not isinstance(item, Reply):
                    yield item
                    continue
                if item.usage is not None:
                    history.spend(item.usage, model.cost(item.usage), "aside")
                if not item.message.text.strip():
                    raise IncompleteReply("{model} gave no answer in words.", model=model.name)
                seconds = time.perf_counter() - began
                yield Replied("", AssistantMessage(item.message.text), item.usage, seconds, item.cut)
                break
    except asyncio.CancelledError:
        reason = "interrupted"
    except CodeAgentError as error:
        reason, failure = "failed", error
    yield TurnEnded(reason, 1, time.perf_counter() - began, failure)
