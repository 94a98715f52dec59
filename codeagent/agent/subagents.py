"""Subagents: the same loop with other parts, for one job; of what it does the session gets steps, cost and report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from codeagent.agent.loop import Agent
from codeagent.core.agents import AgentKind, Report
from codeagent.core.display import visible
from codeagent.core.entries import Spent, Usage
from codeagent.core.events import (
    Compacted,
    Event,
    Notice,
    Replied,
    Retrying,
    StepStarted,
    ToolStarted,
    TurnEnded,
    told,
)
from codeagent.core.ports import Permission, Verdict
from codeagent.core.tools import Action, Tool

MOST = 8
"""So many work at the same time; further ones wait."""
EXPLORE = AgentKind(
    "explore",
    "finds things and reads code; changes nothing",
    "You look and find; nothing can be changed or run. Search from several sides, read what matters, follow the code "
    "to where the answer is certain. Report facts with path:line; say what you did not find and where you looked.",
    reads_only=True,
)
GENERAL = AgentKind(
    "general",
    "any part of the work that stands alone",
    "Do the job whole, check it as the project checks things, and leave everything else as it is. Report what you "
    "changed and where (path:line), how it was checked, and what is open.",
)


@dataclass(frozen=True, slots=True)
class Subagent:
    """One at work."""

    agent: Agent
    transcript: str
    """Id under which the past gives all that it did."""
    aclose: Callable[[], Awaitable[None]]


class Subagents:
    """Implements `core.agents.Agents`."""

    def __init__(
        self,
        defined: Callable[[], Iterable[AgentKind]],
        begin: Callable[[AgentKind], Awaitable[Subagent]],
        spend: Callable[[Usage, float | None], None],
    ) -> None:
        """`defined` gives the kinds that stand in files, `begin` makes a subagent, `spend` is told what they use up."""
        self._defined = defined
        self._begin = begin
        self._spend = spend
        self._places = asyncio.Semaphore(MOST)

    def kinds(self) -> Sequence[AgentKind]:
        kinds = {kind.name: kind for kind in (EXPLORE, GENERAL)}
        kinds |= {kind.name: kind for kind in self._defined()}
        return tuple(kinds.values())

    async def run(self, kind: AgentKind, prompt: str, progress: Callable[[str], None]) -> Report:
        async with self._places:
            subagent = await self._begin(kind)
            try:
                return await self._work(subagent, prompt, progress)
            finally:
                await asyncio.shield(asyncio.ensure_future(subagent.aclose()))

    async def _work(self, subagent: Subagent, prompt: str, progress: Callable[[str], None]) -> Report:
        history = subagent.agent.history
        report, spent = Report("", "interrupted", subagent.transcript), Spent()
        turn = cast("AsyncGenerator[Event]", subagent.agent.run_turn(prompt))
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    report = _follow(report, event)
                    if isinstance(event, Replied | TurnEnded) and history.spent != spent:
                        self._spend(*_used(spent, history.spent))
                        spent = history.spent
                        report = replace(report, tokens=spent.tokens)
                    if line := _line(event, report.steps):
                        progress(f"{line}\n")
        except asyncio.CancelledError:
            if not report.steps:
                raise
        return report


def _follow(report: Report, event: Event) -> Report:
    match event:
        case StepStarted(step=step):
            return replace(report, steps=step)
        case Replied(message=message):
            return replace(report, text=message.text or report.text)
        case TurnEnded(reason="done"):
            return replace(report, failed="")
        case TurnEnded(error=error) if error is not None:
            return replace(report, failed=str(error))
    return report


def _line(event: Event, step: int) -> str:
    """What the person sees of it, in one line."""
    match event:
        case ToolStarted(title=title):
            return f"{step} · {title}"
        case Retrying(error=error, wait=wait):
            return f"{step} · {visible(str(error))} Trying again after {wait:.0f} s."
        case Compacted(receipt=receipt):
            return f"{step} · {told(receipt)}"
        case Notice():
            return f"{step} · {visible(str(event))}"
    return ""


def _used(before: Spent, after: Spent) -> tuple[Usage, float | None]:
    usage = Usage(
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.cached_tokens - before.cached_tokens,
    )
    if after.cost_usd is None or before.cost_usd is None:
        return usage, None
    return usage, after.cost_usd - before.cost_usd


_NAMED = {"apply_patch": "edit_file"}
"""Whoever may edit may do so in the form that the model prefers."""


def fitting(tools: Iterable[Tool], kind: AgentKind) -> list[Tool]:
    """Those of `tools` that a subagent of this kind has: none speaks for the session or the person or starts more."""
    return [
        tool
        for tool in tools
        if tool.name != "task"
        and (tool.kind in ("read", "web") if kind.reads_only else tool.kind not in ("memory", "ask"))
        and (kind.tools is None or _NAMED.get(tool.name, tool.name) in [_NAMED.get(name, name) for name in kind.tools])
    ]


@dataclass(frozen=True, slots=True)
class AskingFor:
    """Implements `ports.Permission`: that of the session, whose questions say who asks."""

    permission: Permission
    who: str

    async def check(self, action: Action) -> Verdict:
        return await self.permission.check(replace(action, title=f"{self.who}: {action.title}"))

    def refused(self, action: Action, reason: str) -> None:
        self.permission.refused(action, reason)
