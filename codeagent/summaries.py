"""Who is asked for summaries, and in how many pieces (L5)."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.agent.model import Model
from codeagent.connection import Connection
from codeagent.core.entries import Usage
from codeagent.core.images import sized
from codeagent.core.ports import Purpose, Summarize
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.history.history import History
from codeagent.llm.summarizer import make_summarizer
from codeagent.llm.transcript import summarize_transcript


def make_session_summarizer(connection: Connection, history: History, patience: float, purpose: Purpose) -> Summarize:
    """Asks the model for summaries where one is set, opened for each, else the model of the session; one that says
    nothing for `patience` seconds is given up."""

    def asking(model: Model) -> Summarize:
        def spend(usage: Usage) -> None:
            history.spend(usage, model.cost(usage), purpose, model.name)

        return make_summarizer(model.provider, model.name, model.max_tokens, purpose, spend, patience)

    small = connection.small
    if small is None:
        return _in_parts(asking(connection.model), connection.model.budget)

    async def summarize(messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        model = await small()
        try:
            ask = asking(model)
            return await summarize_transcript(ask, messages, instruction, room=model.budget.hard_limit)
        finally:
            await model.provider.aclose()

    return summarize


def _in_parts(ask: Summarize, budget: ContextBudget) -> Summarize:
    """Asks with the messages as they are while they fit, else with a transcript in parts."""

    async def summarize(messages: Sequence[bytes], tools: bytes, instruction: str) -> str:
        if sum(map(_size, messages)) + _size(tools) <= budget.hard_limit:
            return await ask(messages, tools, instruction)
        return await summarize_transcript(ask, messages, instruction, room=budget.hard_limit)

    return summarize


_size = sized(estimate_classes)
