"""`Session`: one conversation with everything around it, as commands and ui hold it; it delegates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from codeagent.agent.aside import ask_aside
from codeagent.agent.loop import Agent
from codeagent.agent.model import Model
from codeagent.agent.planning import plan_head
from codeagent.agent.shell import run_typed
from codeagent.agent.watch import RepeatWatch
from codeagent.codebase.index import ProjectCode
from codeagent.core.agents import Agents
from codeagent.core.entries import Compaction, Prompt, PromptReason
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Compacted, Event, Notice, ToolFinished
from codeagent.core.images import image_size
from codeagent.core.jobs import Jobs
from codeagent.core.messages import ToolCall
from codeagent.core.todo import Todo, Todos
from codeagent.history.history import History
from codeagent.history.past import SessionPast
from codeagent.memory.manager import MemoryManager
from codeagent.memory.meter import TokenMeter
from codeagent.safety.checkpoints.back import Plan, Restored
from codeagent.safety.checkpoints.saved import SavedWork
from codeagent.safety.permissions import Denial, Mode, Permissions

_OVERVIEW = 16
"""A part of the window that the symbol map in the prompt never exceeds."""
_TOLD = 50
"""Files that the model is told by name."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the status line, `/status` and `/cost` show; token counts, US dollars."""

    session_id: str
    name: str
    model: str
    mode: Mode
    context_tokens: int
    window: int
    trigger: int
    estimated: bool
    """No usage has been reported yet: `context_tokens` is an estimate alone."""
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost_usd: float | None
    turns: int


class Session:
    """One conversation: its history, its agent, its memory, its permissions."""

    def __init__(
        self,
        agent: Agent,
        memory: MemoryManager,
        permissions: Permissions,
        meter: TokenMeter,
        build_prompt: Callable[[str], Prompt],
        jobs: Jobs,
        past: SessionPast,
        code: ProjectCode,
        todos: Todos,
        watch: RepeatWatch,
        agents: Agents,
        saved: SavedWork,
        *,
        refresh: PromptReason | None,
    ) -> None:
        """`build_prompt` makes the system prompt for an opening request; `refresh` says that it is due and why."""
        self.agent = agent
        self.memory = memory
        self.permissions = permissions
        self.meter = meter
        self.jobs = jobs
        self.past = past
        self.code = code
        self._todos = todos
        self.watch = watch
        self.agents = agents
        self.saved = saved
        self._build_prompt = build_prompt
        self._refresh = refresh
        self._typed: list[str] = []
        """What typed commands gave back, for the next message."""

    @property
    def id(self) -> str:
        return self.history.session.id

    @property
    def history(self) -> History:
        return self.agent.history

    @property
    def model(self) -> Model:
        return self.agent.model

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self.agent.interrupt.running

    @property
    def queued(self) -> tuple[str, ...]:
        """Messages typed during the turn that have not joined it yet."""
        return self.agent.steering.waiting

    @property
    def mode(self) -> Mode:
        return self.permissions.mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self.permissions.mode = mode

    @property
    def todos(self) -> Sequence[Todo]:
        """The steps of the work at hand, as the model keeps them."""
        return self._todos.items

    def cycle_mode(self) -> Mode:
        """The next permission mode, in the order of Shift-Tab."""
        return self.permissions.cycle()

    @property
    def denials(self) -> tuple[Denial, ...]:
        return tuple(self.permissions.denials)

    def run_turn(self, text: str, beside: str = "") -> AsyncIterator[Event]:
        """One turn for what the person typed, and for what was piped in `beside` it; see `Agent.run_turn`."""
        return self.agent.run_turn(text, self._opening, steered=self._steered, beside=beside)

    async def _opening(self, said: str) -> str:
        """What stands before the message that opens a turn: facts that have become relevant come first, or stand in
        a new prompt, and what was said earlier of the matter."""
        await self.memory.prepare(said)
        fresh = self._refresh is not None
        if self._refresh is not None:
            await self.code.prepare(self.model.budget.window // _OVERVIEW)
            self.history.set_prompt(self._build_prompt(said), self._refresh)
            self._refresh = None
        recalled = self.memory.recall(said).text
        head = await self.agent.keeper.opening(said, fresh=fresh)
        typed, self._typed = self._typed, []
        return "\n\n".join(part for part in (recalled, *head, self._planning(), *typed) if part)

    async def _steered(self, said: str) -> str:
        """What stands before a message typed during the turn."""
        await self.memory.prepare(said)
        return "\n\n".join(part for part in (self.memory.recall(said).text, self._planning()) if part)

    def _planning(self) -> str:
        return plan_head(self.permissions.planning, self.history.entries)

    def run_shell(self, command: str, *, tell: bool) -> AsyncIterator[Event]:
        """Run a command that the person typed; with `tell` the model sees it with the next message."""
        return self.agent.interrupt.pump(self._shell(command, tell))

    async def _shell(self, command: str, tell: bool) -> AsyncGenerator[Event, None]:
        async for event in run_typed(command, self.agent.calls.context()):
            if tell and isinstance(event, ToolFinished):
                result = self.agent.calls.veil.cover(event.result)
                self._typed.append(f"[The user ran a command]\n$ {command}\n{result.text}")
            yield event

    def aside(self, question: str) -> AsyncIterator[Event]:
        """Answer a question beside the conversation, which it leaves as it is."""
        self.history.repair_pairs()
        prompt = self.history.prompt if self.history.prompt.system else self._build_prompt(question)
        return self.agent.interrupt.pump(ask_aside(question, self.model, self.history, self.meter, prompt))

    def title(self, call: ToolCall) -> str:
        """The one-line label of a call."""
        return self.agent.calls.toolbox.title(call)

    def interrupt(self) -> None:
        """Stop the running turn; its last event says so."""
        self.agent.interrupt.now()

    def keep_picture(self, data: bytes) -> str:
        """Keep a picture that was pasted, and return what attaches it to a message.

        Raises:
            StoreError: the disk refuses.
        """
        size = image_size(data)
        ending = f".{size.kind}" if size else ".png"
        return f"@{self.agent.calls.context().archive.put_file('pasted', ending, data)}"

    def to_background(self) -> bool:
        """Wait no longer for the command that runs; it goes on in the background. False when none runs."""
        return self.jobs.release()

    def steer(self, text: str) -> None:
        """Put a message into the running turn at its next safe place."""
        self.agent.steering.push(text)

    def compact(self, focus: str | None = None) -> AsyncIterator[Event]:
        """Compact the history now, whatever its size. Failures and an interruption are told, not raised."""
        return self.agent.interrupt.pump(self._compact(focus))

    async def undo_compaction(self) -> Compaction:
        """Take back the newest compaction: the exact messages return, and the next comes only at the hard limit.

        Raises:
            CodeAgentError: there is none, or a turn is under way.
            StoreError: the disk refuses.
        """
        receipt = self.history.receipt
        if receipt is None:
            raise CodeAgentError("There is no compaction to take back.")
        if self.running:
            raise CodeAgentError("A turn is under way; a compaction is taken back when it has ended.")
        self.history.repair_pairs()
        await self.history.undo(receipt.id)
        self.agent.guard.taken_back()
        return receipt

    async def rewind(self, id: str, *, files: bool) -> None:
        """Take the conversation back to before the message `id`; `files`: the files went back too.

        Raises:
            CodeAgentError: there is no such message, or a turn is under way.
            StoreError: the disk refuses.
        """
        self._at_rest()
        self.history.repair_pairs()
        await self.history.undo(id, files=files or None)
        self._typed.clear()
        self._refresh = "rewind"

    async def put_back(self, plan: Plan, *, over: bool) -> Restored:
        """Carry out what going back in the files would do; the model hears of it with the next message.

        Raises:
            CodeAgentError: a turn is under way, or the disk refuses.
        """
        self._at_rest()
        restored = await self.saved.back.carry_out(plan, over=over)
        if restored.done:
            what = "took back" if plan.kind == "undo" else "did again"
            paths = "\n".join(one.path for one in restored.done[:_TOLD])
            more = f"\n... {len(restored.done) - _TOLD} more" if len(restored.done) > _TOLD else ""
            self._typed.append(f"[The user {what} changes of these files; they are different now:\n{paths}{more}]")
        return restored

    def _at_rest(self) -> None:
        if self.running:
            raise CodeAgentError("A turn is under way; going back waits until it has ended.")

    async def _compact(self, focus: str | None) -> AsyncGenerator[Event, None]:
        compacted = False
        try:
            self.history.repair_pairs()
            async for event in self.agent.compacting(self.agent.guard.compact(force=True, focus=focus)):
                compacted = compacted or isinstance(event, Compacted)
                yield event
        except asyncio.CancelledError:
            if not compacted:
                yield Notice("Compaction was interrupted, nothing was changed.")
        except CodeAgentError as error:
            yield Notice("{error}", {"error": str(error)}, "error")

    def clear(self) -> None:
        """Begin anew: the conversation leaves the prompt, not the disk. Raises StoreError when the disk refuses."""
        self.history.repair_pairs()
        self.history.set_prompt(self._build_prompt(""), "clear")
        self.memory.safe_point()
        # What is found for the next request has no other place then.
        self._refresh = "resume" if self.memory.inject == "system" else None

    def reload(self) -> None:
        """Read instructions and facts anew with the next message: a safe point."""
        self._refresh = self._refresh or "resume"

    def status(self) -> Status:
        spent = self.history.spent
        return Status(
            session_id=self.id,
            name=self.history.name or "",
            model=self.model.name,
            mode=self.mode,
            context_tokens=self.meter.request(self.history),
            window=self.model.budget.window,
            trigger=self.model.budget.trigger,
            estimated=self.meter.estimated(self.history),
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cached_tokens=spent.cached_tokens,
            cost_usd=spent.cost_usd,
            turns=self.history.turn,
        )

    async def aclose(self) -> None:
        """Everything on disk, no process left, the session file free for others."""
        try:
            await self.jobs.aclose()
            await self.past.aclose()
            await self.code.aclose()
            await self.memory.aclose()
            await self.model.provider.aclose()
            await asyncio.to_thread(self.meter.save)
            await self.history.sync()
        finally:
            self.saved.close()
            self.history.close()
