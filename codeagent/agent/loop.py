"""The loop: one turn from the user's words to the agent's last."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from itertools import count
from typing import cast

from codeagent.agent.attaching import NOTHING, attached
from codeagent.agent.calls import CallRunner
from codeagent.agent.compaction import HistoryGuard
from codeagent.agent.cutting import CutWatch
from codeagent.agent.keeper import Keeper
from codeagent.agent.limits import Limits
from codeagent.agent.model import Model
from codeagent.agent.steering import Interrupt, Steering
from codeagent.core.entries import Origin, Spent
from codeagent.core.errors import CodeAgentError, ContextOverflow, IncompleteReply, LimitReached
from codeagent.core.events import (
    Compacted,
    EndReason,
    Event,
    Notice,
    Replied,
    Retrying,
    Steered,
    StepStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from codeagent.core.messages import INTERRUPTED, AssistantMessage, UserMessage, scrub, spoken
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.history.history import History
from codeagent.memory.meter import TokenMeter

Head = Callable[[str], Awaitable[str]]
"""What was said -> what goes to the model in front of it ("" for nothing)."""


class Agent:
    """Asks the model and runs its tools; everything it knows is in the history."""

    def __init__(
        self,
        history: History,
        model: Model,
        calls: CallRunner,
        guard: HistoryGuard,
        meter: TokenMeter,
        limits: Limits,
        keeper: Keeper,
        *,
        spent: Callable[[], Spent] | None = None,
    ) -> None:
        """`spent` is what the limits look at, by default what this conversation has used up."""
        self.history = history
        self.model = model
        self.guard = guard
        self.steering = Steering()
        self.interrupt = Interrupt()
        self.keeper = keeper
        self.calls = calls
        self.typed = ""
        """What the person typed of the newest message: what was piped in beside it, or alone, is not among it."""
        self._meter = meter
        self._cuts = CutWatch(model.name)
        self._limits = limits
        self._spent = spent or (lambda: history.spent)

    def run_turn(
        self, said: str, head: Head | None = None, *, steered: Head | None = None, beside: str = ""
    ) -> AsyncIterator[Event]:
        """One turn for what the person typed; `head` makes what goes in front of it, `steered` the same for what is
        typed during the turn; `beside` goes to the model behind it.

        The last event is always `TurnEnded`; failures of model, tools, network and disk end the turn, they do not
        raise.
        """
        return self.interrupt.pump(self._turn(scrub(said), scrub(beside), head, steered))

    async def _turn(
        self, said: str, beside: str, head: Head | None, steered: Head | None
    ) -> AsyncGenerator[Event, None]:
        started, step = time.perf_counter(), 0
        reason: EndReason = "done"
        failure: CodeAgentError | None = None
        try:
            # Calls are still open here when the disk refused their results at the end of the turn before.
            self.history.repair_pairs()
            notices = await self._say(said, head, beside, new_turn=True)
            yield TurnStarted(self.history.turn, said)
            for notice in notices:
                yield notice
            async for event in self._steps(steered):
                if isinstance(event, StepStarted):
                    step = event.step
                yield event
        except asyncio.CancelledError:
            reason = "interrupted"
        except LimitReached as error:
            reason, failure = "limit", error
        except CodeAgentError as error:
            reason, failure = "failed", error
        try:
            await self._close()
        except CodeAgentError as error:
            if failure is None:
                reason, failure = "failed", error
        yield TurnEnded(reason, step, time.perf_counter() - started, failure)

    async def _say(self, said: str, head: Head | None, beside: str = "", *, new_turn: bool) -> Sequence[Notice]:
        """What was typed joins the history, also when what belongs to it cannot be found or is not waited for."""
        text, (images, notices) = "", NOTHING
        try:
            text = scrub(await head(said or beside)) if head else ""
            images, notices = await attached(said, self.calls.context())
        finally:
            self.typed = said
            whole = "\n\n".join(part for part in (text, said, beside) if part)
            # What was piped in alone is the request; whoever asks for proof of intent looks at `typed`.
            origin: Origin = "user" if new_turn else "steer"
            piped = not said and beside != ""
            message = UserMessage(whole, images)
            self.history.append(message, origin=origin, said=said or beside, piped=piped, new_turn=new_turn)
        return notices

    async def _steps(self, steered: Head | None) -> AsyncGenerator[Event, None]:
        """Ask the model, run the tools it wants, until it only talks."""
        before, started, lasted = Spent(), time.perf_counter(), 0.0
        for step in count(1):
            now = time.perf_counter() - started
            for notice in self._limits.check(step, self._spent(), before, seconds=now, seconds_before=lasted):
                yield notice
            before, lasted = self._spent(), now
            replied = None
            async for event in self._ask(step):
                replied = event
                yield event
            assert isinstance(replied, Replied)
            for notice in await self.keeper.foreign():
                yield notice
            async for event in self.calls.run(replied.message.calls, replied.cut):
                yield event
            heard = False
            while (text := self.steering.next()) is not None:
                heard = True
                notices = await self._say(scrub(text), steered, new_turn=False)
                yield Steered(text)
                for notice in notices:
                    yield notice
            if not replied.message.calls and not heard:
                self._demand_whole(replied.truncated)
                return

    async def compacting(self, events: AsyncIterator[Event]) -> AsyncGenerator[Event, None]:
        """The events of the guard; what belongs to a compaction follows it."""
        async for event in events:
            yield event
            if isinstance(event, Compacted):
                await self.keeper.compacted(event.receipt)

    async def _ask(self, step: int) -> AsyncGenerator[Event, None]:
        """One model call, whose last event is `Replied`; an answer of nothing at all is asked for once more.

        Before the second, too, the history is looked at: the usage reported with the first may be more than was
        estimated.
        """
        for last in (False, True):
            async for event in self.compacting(self.guard.maybe_compact_history()):
                yield event
            async for event in self._ask_fitting(step, last=last):
                yield event
                if isinstance(event, Replied):
                    return
            nothing = IncompleteReply("{model} gave an empty answer.", model=self.model.name)
            if last:
                raise nothing
            yield Retrying(nothing, 1, 1, 0.0)

    async def _ask_fitting(self, step: int, *, last: bool) -> AsyncGenerator[Event, None]:
        """One request; one that turns out too long is compacted once and tried once more."""
        try:
            async for event in self._ask_once(step, last=last):
                yield event
        except ContextOverflow:
            before = self.history.tokens
            async for event in self.compacting(self.guard.compact(force=False, overflow=True)):
                yield event
            if self.history.tokens >= before:
                raise
            async for event in self._ask_once(step, last=last):
                yield event

    async def _ask_once(self, step: int, *, last: bool) -> AsyncGenerator[Event, None]:
        """One request as it is; without `Replied` at the end when the answer was empty. The last time, thoughts
        alone are an answer."""
        started, estimated = time.perf_counter(), self._meter.request(self.history)
        yield StepStarted(step, estimated)
        partial: list[str] = []
        reply: Reply | None = None
        try:
            stream = cast("AsyncGenerator[StreamItem]", self.model.provider.stream(self._request()))
            async with aclosing(stream) as items:
                async for item in items:
                    if isinstance(item, Reply):
                        reply = item
                        break
                    if isinstance(item, TextDelta):
                        partial.append(item.text)
                    elif isinstance(item, Retrying):
                        partial.clear()
                    yield item
        except ContextOverflow:
            raise
        except (asyncio.CancelledError, CodeAgentError):
            if text := "".join(partial).strip():
                self.history.append(AssistantMessage(scrub(f"{text}\n\n{INTERRUPTED}")), origin="model")
            raise
        if reply is None:
            raise IncompleteReply("The stream of {model} ended without an answer.", model=self.model.name)
        if last and not reply.cut:
            reply = replace(reply, message=spoken(reply.message))
        if reply.usage is not None:
            counted = self.history.anchor.usage if self.history.anchor else None
            for notice in self._cuts.look(counted, estimated, reply.usage):
                yield notice
        if replied := self._keep(reply, estimated, time.perf_counter() - started):
            yield replied

    def _request(self) -> Request:
        return Request(
            model=self.model.name,
            messages=self.history.wire(),
            tools=self.history.prompt.tools,
            max_tokens=self.model.max_tokens,
            effort=self.model.effort,
        )

    def _keep(self, reply: Reply, estimated: int, seconds: float) -> Replied | None:
        """The reply joins the history, and its usage becomes the anchor of the next estimate.

        An empty one does not join, endpoints refuse it later; what it cost counts with the message it answers.
        """
        empty = not reply.message.calls and not reply.message.text.strip()
        entry = self.history.entries[-1] if empty else self.history.append(reply.message, origin="model")
        anchor = self.history.anchor
        if reply.usage is not None:
            cost = reply.cost_usd if reply.model else self.model.cost(reply.usage)
            by = reply.model or self.model.name
            self.history.report(reply.usage, entry_id=entry.id, estimated=estimated, cost_usd=cost, model=by)
            self._meter.learn(anchor, self.history)
        self.keeper.replied(reply.message.text, reply.usage, grown=anchor is not None)
        if empty:
            self._demand_whole(reply.cut)
            return None
        return Replied(entry.id, reply.message, reply.usage, seconds, reply.cut, reply.broken_calls)

    def _demand_whole(self, cut: bool) -> None:
        """A cut answer is no end of a turn that could pass for a good one."""
        if cut:
            raise LimitReached("The answer was cut off by the model's length limit.", hint="Say “go on” to continue.")

    async def _close(self) -> None:
        """Leave a history that any endpoint accepts: no open call, and an answer, if only a mark, to what was said."""
        self.history.repair_pairs()
        last = self.history.entries[-1].message if self.history.entries else None
        if isinstance(last, UserMessage):
            self.history.append(AssistantMessage(INTERRUPTED), origin="model")
        syncing = asyncio.create_task(self.history.sync())
        with suppress(asyncio.CancelledError):  # An interruption now comes too late: the turn is over.
            await asyncio.wait({syncing})
        await syncing
