"""Running the tool calls of one reply: together where they only read, in order where they write.

Whatever happens, each call ends up with exactly one result in the history, in the order of the calls (law 1).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from codeagent.core.events import Event, ToolFinished, ToolProgress, ToolStarted
from codeagent.core.images import Image
from codeagent.core.messages import INTERRUPTED, ToolCall, ToolMessage, UserMessage, scrub
from codeagent.core.tools import ToolContext, ToolResult
from codeagent.history.history import History
from codeagent.safety.veil import Veil
from codeagent.tools.toolbox import Toolbox

IMAGES = "[Images that belong to the tool results above]"
STOPPED = ToolResult(INTERRUPTED, failed=True, summary="interrupted")


async def _unprepared(call: ToolCall) -> None:
    return None


async def _nothing(call: ToolCall, result: ToolResult) -> Sequence[str]:
    return ()


CUT = ToolResult(
    "This call was cut off by the length limit of the reply and was not run. Send it again in smaller parts: "
    "for example write the first part of a file, then add to it.",
    failed=True,
    summary="cut off",
)


@dataclass(frozen=True, slots=True)
class CallRunner:
    """Runs calls through the toolbox and writes their results into the history."""

    toolbox: Toolbox
    history: History
    world: Callable[[], ToolContext]
    """What the next calls are handed, made anew for each reply."""
    veil: Veil
    """Hides secrets in results, and puts them back into calls."""
    preface: Callable[[str], str] = lambda path: ""
    """What stands at the head of the first result about a path: instructions that hold there."""
    before: Callable[[ToolCall], Awaitable[None]] = _unprepared
    """What happens before a call is run."""
    after: Callable[[ToolCall, ToolResult], Awaitable[Sequence[str]]] = _nothing
    """What joins at the end of a result: what hooks say of it, task memory where it is due."""

    def context(self) -> ToolContext:
        """The world for the next calls, in which nothing is archived with secrets in it."""
        world = self.world()
        return replace(world, archive=self.veil.archive(world.archive))

    async def run(self, calls: Sequence[ToolCall], cut: frozenset[str]) -> AsyncGenerator[Event, None]:
        """Run `calls`; those in `cut` are answered without running. Events come as things happen."""
        context = self.context()
        images: list[Image] = []
        for batch in self._batches(calls):
            async for event in self._run_batch(batch, cut, context):
                if isinstance(event, ToolFinished):
                    images += event.result.images
                yield event
        if images:
            # Behind all results, for the pairs' sake, and from the user: many endpoints take no picture from a tool.
            self.history.append(UserMessage(IMAGES, tuple(images)), origin="tool")

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, ...]]:
        batch: list[ToolCall] = []
        for call in calls:
            alone = not self.toolbox.parallel(call)
            if batch and alone:
                yield tuple(batch)
                batch = []
            if alone:
                yield (call,)
            else:
                batch.append(call)
        if batch:
            yield tuple(batch)

    async def _run_batch(
        self, batch: Sequence[ToolCall], cut: frozenset[str], context: ToolContext
    ) -> AsyncGenerator[Event, None]:
        began = time.perf_counter()
        queue: asyncio.Queue[ToolProgress | tuple[int, ToolFinished]] = asyncio.Queue()
        finished: dict[int, ToolFinished] = {}
        recorded = 0
        tasks = []
        for place, call in enumerate(batch):
            yield ToolStarted(call, self.toolbox.title(call))
            tasks.append(asyncio.create_task(self._run_one(place, call, cut, context, queue)))
        try:
            while recorded < len(batch):
                item = await queue.get()
                if isinstance(item, ToolProgress):
                    yield item
                    continue
                finished[item[0]] = item[1]
                # Told when it is on disk, and written in the order of the calls.
                while (done := finished.get(recorded)) is not None:
                    self._record(done)
                    recorded += 1
                    yield done
        except asyncio.CancelledError:
            await _stop(tasks)
            while not queue.empty():
                if not isinstance(item := queue.get_nowait(), ToolProgress):
                    finished[item[0]] = item[1]
            for place in range(recorded, len(batch)):
                self._record(done := finished.get(place) or self._stopped(batch[place], time.perf_counter() - began))
                yield done
            raise
        finally:
            await _stop(tasks)

    async def _run_one(
        self,
        place: int,
        call: ToolCall,
        cut: frozenset[str],
        context: ToolContext,
        queue: asyncio.Queue[ToolProgress | tuple[int, ToolFinished]],
    ) -> None:
        started = time.perf_counter()
        if call.id in cut:
            result = CUT
        else:
            await self.before(call)
            tool = self.toolbox.get(call.name)
            result = await self.toolbox.run(
                self.veil.restore(call, tool.kind if tool else ""),
                replace(
                    context,
                    call_id=call.id,
                    progress=lambda text: queue.put_nowait(ToolProgress(call.id, text)),
                ),
            )
        seconds, texts = time.perf_counter() - started, [result.text]
        try:
            texts += await self.after(call, result)
        finally:  # An interruption here comes too late for the call: it is done.
            result = self.veil.cover(replace(result, text="\n\n".join(texts)))
            queue.put_nowait((place, ToolFinished(call, self.toolbox.title(call), result, seconds)))

    def _stopped(self, call: ToolCall, seconds: float) -> ToolFinished:
        return ToolFinished(call, self.toolbox.title(call), STOPPED, seconds)

    def _record(self, done: ToolFinished) -> None:
        about = () if done.result.failed else done.result.about
        text = scrub("\n\n".join([*filter(None, map(self.preface, about)), done.result.text]))
        self.history.append(
            ToolMessage(done.call.id, done.call.name, text),
            origin="tool",
            failed=done.result.failed,
            partial=done.result.partial,
            archive=done.result.archive,
            ms=round(done.seconds * 1000),
        )


async def _stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
