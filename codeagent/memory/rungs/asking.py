"""One request for a summary of what leaves, with the session's own prefix, so that the provider's cache is read."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.entries import Entry
from codeagent.core.errors import CodeAgentError, ModelError
from codeagent.core.messages import SystemMessage, encode
from codeagent.core.ports import Summarize
from codeagent.memory.rungs.base import Job

_FOCUS = "\n\nThe user asks you to dwell on this above all: "


class NoSummary(ModelError):
    """A model was asked for a summary and gave none that is any good."""


async def ask(summarize: Summarize, job: Job, head: Sequence[Entry], instruction: str) -> str:
    """The summary of `head`, stripped.

    Raises:
        NoSummary: it failed, whatever the reason, or is empty.
    """
    if job.need.focus:
        instruction += f"{_FOCUS}{job.need.focus}"
    prompt = job.view.prompt
    prefix = [encode(SystemMessage(prompt.system)), *(entry.wire for entry in head)]
    try:
        summary = (await summarize(prefix, prompt.tools, instruction)).strip()
    except CodeAgentError as error:
        raise NoSummary("{reason}", reason=str(error)) from error
    if not summary:
        raise NoSummary("The model gave an empty summary.")
    return summary
