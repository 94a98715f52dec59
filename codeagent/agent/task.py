"""Keeping task memory before the model: when it is read anew, when it is sent again, when the model is reminded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from codeagent.agent.tattoo import TattooWatch
from codeagent.core.entries import Compaction, Usage
from codeagent.core.events import Notice
from codeagent.core.messages import ToolCall, ToolMessage, UserMessage
from codeagent.core.paths import TATTOO
from codeagent.core.tools import Kind, ToolResult
from codeagent.extensions.hooks import Hooked, HookEvent, Hooks
from codeagent.history.history import History
from codeagent.memory.foreign import bears_foreign_mark, begins_with_foreign_mark
from codeagent.memory.injected import told_last
from codeagent.memory.meter import TokenMeter
from codeagent.memory.task import TaskMemory

Remind = Literal["stale", "every_message", "never"]

_HARMLESS: tuple[Kind, ...] = ("read", "web", "ask")
"""Kinds of tools that change no file."""
STALE = 600.0
"""Seconds after which an edit makes a snapshot old."""
SHRUNK = 0.6
"""A context that is reported smaller than this share of what it was has been cut by somebody else."""


class TaskKeeper:
    """Follows one session; all that it adds travels in the newest message (law 2)."""

    def __init__(
        self,
        task: TaskMemory,
        hooks: Hooks,
        history: History,
        meter: TokenMeter,
        watch: TattooWatch,
        tell: Callable[[Notice], object],
        *,
        kind: Callable[[str], Kind | None],
        reload_every: int = 20,
        remind: Remind = "stale",
        now: Callable[[], float] = time.time,
    ) -> None:
        """`tell` takes what the person should know, `kind` says what a tool of that name does."""
        self._task = task
        self._hooks = hooks
        self._history = history
        self._meter = meter
        self._tell = tell
        self._watch = watch
        self._kind = kind
        self._every = reload_every
        self._remind = remind
        self._now = now
        self._turns = self._steps = 0
        self._sendings = 0
        self._cut = False
        self._last = history.anchor.usage if history.anchor is not None else None
        self._fixed = meter.fixed(history.prompt) if history.anchor is not None else 0
        """Tokens of the prompt that a session which is resumed had before, until its first reply."""
        self._fall: tuple[int, int] | None = None
        self._reminded: float | None = None
        self._waiting: list[str] = []
        self._size = meter.request(history) if history.entries else 0
        """Tokens of the context at the last reply."""

    async def opening(self, said: str, *, fresh: bool) -> list[str]:
        """What stands at the head of a user message: what the hooks print, and task memory where it is due.

        `fresh`: the prompt has just been rebuilt and holds it.
        """
        texts = [*self._take_waiting(), *await self._watch.look(opening=True)]
        texts.append(await self._hook("pre_task", **self._sizes()))
        self._task.load()
        self._count(turns=0 if fresh else 1)
        if begins_with_foreign_mark(said):
            self._note_foreign_mark("the message")
        due = self._due() or (self._remind == "every_message" and not fresh)
        if due or self._task.block != self._task.sent:
            texts.append(self._again())
        self._news()
        return [text for text in texts if text]

    async def before(self, call: ToolCall) -> None:
        """A tool begins to run; what only looks changes nothing."""
        if self._kind(call.name) not in _HARMLESS:
            self._waiting += await self._watch.begin(call)

    async def after(self, call: ToolCall, result: ToolResult) -> list[str]:
        """What stands at the end of a tool's result: hooks after an edit, a reminder, task memory where it is due."""
        kind = self._kind(call.name)
        texts = [*self._take_waiting(), *await self.beside(call, result)]
        if not result.failed and result.about and kind == "edit":
            texts.append(self._reminder())
        elif result.denied and kind == "edit":
            for path in result.about:
                if path.endswith(TATTOO):
                    self._task.audit.log("refusal", f"tattoo: {call.name} may not write to {path}")
        if self._due():
            self._task.load()
            texts.append(self._again())
        self._news()
        return [text for text in texts if text]

    async def beside(self, call: ToolCall, result: ToolResult) -> list[str]:
        """What follows from a call whoever made it: constraints that changed meanwhile, hooks after an edit."""
        kind = self._kind(call.name)
        texts = [*(await self._watch.look() if kind not in _HARMLESS else ())]
        if not result.failed and kind == "edit":
            texts += [await self._hook("post_edit", file=path, **self._sizes()) for path in result.about]
        return [text for text in texts if text]

    async def compacted(self, receipt: Compaction) -> None:
        """The history was folded and the prompt rebuilt."""
        before, after = receipt.tokens_before, receipt.tokens_after
        self._task.audit.log("compaction", f"{receipt.id}, rung {receipt.rung}: {before} -> {after} tokens")
        self._last = None
        await self._say_compacted(before, after)

    def replied(self, text: str, usage: Usage | None, *, grown: bool) -> None:
        """A reply came; `grown`: since the one before, the history has only been added to."""
        self._count(steps=1)
        self._size = self._meter.request(self._history)
        if usage is None:
            return
        before = self._last.prompt_tokens if self._last is not None and grown else 0
        if self._fixed:  # what the new prompt has less was cut by us
            before -= max(0, self._fixed - self._meter.fixed(self._history.prompt))
            self._fixed = 0
        # What speaks of a summary that we did not make need not have lost as much to have been cut.
        if usage.prompt_tokens < before * (1.0 if bears_foreign_mark(text) else SHRUNK):
            self._fall = (before, usage.prompt_tokens)
        self._last = usage

    async def foreign(self) -> Sequence[Notice]:
        """What to say when somebody else has cut the context; the next message then brings task memory again."""
        if self._fall is None:
            return ()
        (before, after), self._fall = self._fall, None
        self._cut = True
        self._task.audit.log("shrink", f"{before} -> {after} tokens without a compaction of ours")
        await self._say_compacted(before, after)
        told = "The context was cut outside: the endpoint counted {after:,} tokens after {before:,}."
        if self._task.load():
            told += " Task memory is sent again."
        return (Notice(told, {"before": before, "after": after}, "warning"),)

    async def _say_compacted(self, before: int, after: int) -> None:
        text = await self._hook("on_compact", tokens_before=before, tokens_after=after)
        if not text:
            return
        # A message of its own is no trouble behind a tool's result; two of the user in a row would be.
        if isinstance(self._history.entries[-1].message, ToolMessage):
            self._history.append(UserMessage(text), origin="hook")
        else:
            self._waiting.append(text)

    def _note_foreign_mark(self, where: str) -> None:
        self._cut = True
        self._task.audit.log("shrink", f"{where} brings a summary that is not ours")
        self._tell(Notice("The message brings a summary made elsewhere: task memory is sent again and wins over it."))

    def _sizes(self) -> Mapping[str, int]:
        """Tokens of the context at the last reply, and now."""
        return {"tokens_before": self._size, "tokens_after": self._meter.request(self._history)}

    async def _hook(self, event: HookEvent, **about: object) -> str:
        size = self._meter.request(self._history)
        try:
            hooked: Hooked = await self._hooks.run(event, context=size, session=self._history.session.id, **about)
        except asyncio.CancelledError:
            self._task.audit.log("hook", f"{event}: interrupted")
            raise
        for notice in hooked.notices:
            self._tell(notice)
            self._task.audit.log("hook", f"{event}: {notice}")
        if hooked.text:
            self._task.audit.log("hook", f"{event}: {len(hooked.text)} characters")
        return hooked.text

    def _reminder(self) -> str:
        """Once for each state of the snapshot: phases are noted, not edits."""
        changed = self._task.snapshot_time()
        if self._remind == "never" or changed is None or changed == self._reminded:
            return ""
        age = self._now() - changed
        if age < STALE:
            return ""
        self._reminded = changed
        head = f"[Reminder: the task snapshot of {datetime.fromtimestamp(changed):%Y-%m-%d %H:%M:%S} is "
        # A session that is resumed has its reminder in the messages.
        if any(entry.origin == "tool" and head in entry.message.text for entry in self._history.entries):
            return ""
        return (
            f"{head}{age / 60:.0f} minutes old. If a phase was finished or begun since, "
            "record it with update_task; if not, just go on.]"
        )

    def _again(self) -> str:
        stale, self._cut = self._cut, False
        self._turns = self._steps = 0
        return self._task.again(stale=stale)

    def _due(self) -> bool:
        self._count()
        return self._cut or max(self._turns, self._steps) >= self._every

    def _count(self, *, turns: int = 0, steps: int = 0) -> None:
        """Turns and steps since the block was last sent, by whomever."""
        if self._task.sendings != self._sendings:
            self._sendings = self._task.sendings
            self._turns = self._steps = 0
            # Of two blocks the model believes the later: an old one behind the new prompt must not be the last.
            self._cut = self._cut or told_last(self._history) not in (None, self._task.sent)
        self._turns += turns
        self._steps += steps

    def _take_waiting(self) -> list[str]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def _news(self) -> None:
        for notice in self._task.notices():
            self._tell(notice)
