"""What the person does to a running turn: stop it, or put a word in."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator

from codeagent.core.events import Event


class Steering:
    """Messages typed during a turn, waiting for the next safe place in it."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(self._waiting)

    def push(self, text: str) -> None:
        self._waiting.append(text)

    def take(self) -> tuple[str, ...]:
        """Everything that waits, in the order it was typed; nothing waits afterwards."""
        taken = self.waiting
        self._waiting.clear()
        return taken

    def next(self) -> str | None:
        """The one that has waited longest; None when none waits."""
        return self._waiting.popleft() if self._waiting else None


class Interrupt:
    """Runs a turn so that it can be stopped at any moment, wherever its consumer happens to be.

    The turn runs in a task of its own, so that a cancellation always lands inside the turn (which then closes its open
    calls and says how it ended) and never in the code that shows its events.
    """

    def __init__(self) -> None:
        self._turn: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def running(self) -> bool:
        return self._turn is not None and not self._turn.done()

    def now(self) -> None:
        """Stop the running turn; further calls for the same turn change nothing, so that its clean-up is not cut."""
        if self._turn is not None and not self._stopping:
            self._stopping = True
            # Not at once: a task that has not begun yet would end without having said a word.
            self._turn.get_loop().call_soon(self._turn.cancel)

    async def pump(self, turn: AsyncGenerator[Event, None]) -> AsyncIterator[Event]:
        """The events of `turn`. A consumer that goes away stops the turn as `now` does, and so does another turn."""
        if self._turn is not None:
            self.now()
            await asyncio.wait({self._turn})
        queue: asyncio.Queue[Event | None] = asyncio.Queue()

        async def drain() -> None:
            async for event in turn:
                queue.put_nowait(event)

        task = asyncio.create_task(drain())
        task.add_done_callback(lambda _: queue.put_nowait(None))
        self._turn, self._stopping = task, False
        try:
            while (event := await queue.get()) is not None:
                yield event
            if not task.cancelled():
                task.result()
        finally:
            if self._turn is task:
                self.now()
            await asyncio.wait({task})
            if self._turn is task:
                self._turn = None
