"""A command that the person typed: run like the model's, but for the asking, for typing it was the yes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import replace

from codeagent.agent.calls import STOPPED
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Event, ToolFinished, ToolProgress, ToolStarted
from codeagent.core.messages import ToolCall, scrub
from codeagent.core.tools import ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.builtin import shell

CALL = "typed"
"""Id of the call, which is in no message; what is archived of it is named after it."""


async def run_typed(command: str, context: ToolContext) -> AsyncGenerator[Event, None]:
    """Run `command` in the working folder. The last event is its `ToolFinished`, also when it is interrupted."""
    command, began = scrub(command), time.perf_counter()
    call = ToolCall(CALL, "shell", json.dumps({"command": command}))
    params = shell.Params(command=command, timeout=None)
    title = shell.title(params)
    yield ToolStarted(call, title)
    queue: asyncio.Queue[ToolProgress | None] = asyncio.Queue()
    running = asyncio.create_task(
        _result(
            params,
            replace(
                context, call_id=CALL, typed=True, progress=lambda text: queue.put_nowait(ToolProgress(CALL, text))
            ),
        )
    )
    running.add_done_callback(lambda _: queue.put_nowait(None))
    result = STOPPED
    try:
        while (progress := await queue.get()) is not None:
            yield progress
        result = running.result()
    except asyncio.CancelledError:
        running.cancel()
        await asyncio.wait({running})
        if not running.cancelled():  # what it had printed by then
            result = running.result()
    yield ToolFinished(call, title, result, time.perf_counter() - began)


async def _result(params: shell.Params, context: ToolContext) -> ToolResult:
    try:
        result = await shell.run(params, context)
    except ToolFault as fault:
        return ToolResult(str(fault), failed=True, summary=fault.summary)
    except (OSError, CodeAgentError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        return ToolResult(reason, failed=True, summary="failed")
    text = scrub(result.text)
    return replace(result, text=text, display=text.rpartition("\n")[0])
