"""The one mutable thing: the messages of the next request, with the journal behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from codeagent.core.entries import Compaction, Entry, Origin, Prompt, PromptReason, Spent, Usage
from codeagent.core.errors import CodeAgentError
from codeagent.core.events import Notice
from codeagent.core.messages import (
    INTERRUPTED,
    PLAIN,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    WireShape,
    encode,
)
from codeagent.core.ports import Estimate, Observer
from codeagent.core.tokens import estimate_classes
from codeagent.history import records
from codeagent.history.folding import fold, made_up, mend, open_calls, stand_ins, without
from codeagent.history.journal import Journal
from codeagent.history.reading import read_state
from codeagent.history.records import SessionInfo
from codeagent.history.replay import Anchor, State, anchor_at, keeps_anchor

_NAME_REACH = 32 * 1024
"""A name further than this from the end of the file is written again, so that a listing finds it in the tail."""


class History:
    """What was said, in memory and on disk; both are equal at every moment.

    Every change is a record first: when it cannot be written, `StoreError` is raised and nothing has changed. What
    the caller may never do (an answer without a call, a fold that parts a pair) is a `ValueError`.
    """

    def __init__(
        self,
        journal: Journal,
        session: SessionInfo,
        state: State,
        *,
        shape: WireShape = PLAIN,
        estimate: Estimate = estimate_classes,
        notices: tuple[Notice, ...] = (),
    ) -> None:
        self.session = session
        self.notices = notices
        """What was found when the file was opened."""
        self._journal = journal
        self.observers: Sequence[Observer] = ()
        """Who is told of what is appended, cleared and taken back."""
        self._shape = shape
        self._estimate = estimate
        self._adopt(state)

    def _adopt(self, state: State) -> None:
        self._name: str | None = state.name
        self._turn: int = state.turn
        self._spent: Spent = state.spent
        self._receipt: Compaction | None = state.receipt
        self._resting: bool = state.resting
        self._anchor: Anchor | None = state.anchor
        self._messages: int = state.messages
        self._compactions: int = state.compactions
        self._renamed_at: int = state.renamed_at
        self._lay(state.prompt, list(state.entries))

    # ---- what it holds ---------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        return self._journal.path

    @property
    def entries(self) -> Sequence[Entry]:
        """The message list of the next request, without the system prompt; grows, is never changed in place else."""
        return self._entries

    @property
    def prompt(self) -> Prompt:
        return self._prompt

    @property
    def turn(self) -> int:
        """Number of the newest user turn, from 1; 0 before the first. Never goes back."""
        return self._turn

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def tokens(self) -> int:
        """Estimate for all entries together."""
        return self._tokens

    @property
    def anchor(self) -> Anchor | None:
        """The newest reported usage, as long as the prompt has only grown since."""
        return self._anchor

    @property
    def spent(self) -> Spent:
        return self._spent

    @property
    def receipt(self) -> Compaction | None:
        """The newest compaction in force: what `undo` takes back."""
        return self._receipt

    @property
    def resting(self) -> bool:
        """The person took the newest compaction back, and there has been none since."""
        return self._resting

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls that still wait for their result."""
        return tuple(self._open)

    def wire(self) -> list[bytes]:
        """The messages of the next request, serialized: the system text and every entry."""
        return self._wire.copy()

    # ---- what changes it -------------------------------------------------------------------------------------------

    def append(
        self,
        message: Message,
        *,
        origin: Origin,
        said: str | None = None,
        piped: bool = False,
        failed: bool = False,
        partial: bool = False,
        archive: str | None = None,
        ms: int | None = None,
        new_turn: bool = False,
    ) -> Entry:
        """Write a message to disk, then let it join the list.

        Args:
            said, piped: what the person typed of it, without what was injected; it came through a pipe instead.
            failed, partial, archive, ms: of a tool's answer.
            new_turn: it opens the next user turn.
        """
        result = isinstance(message, ToolMessage)
        if result != bool(self._open) or (result and not self._awaits(message)):
            raise ValueError("results follow their calls at once, and nothing else does")
        wire = encode(message, self._shape)
        id, turn = f"m{self._messages + 1}", self._turn + new_turn
        entry = Entry(id, turn, message, wire, self._estimate(wire), origin, said, piped)
        about = {"failed": failed, "partial": partial, "archive": archive, "ms": ms} if result else {}
        self._journal.write(records.message_body(entry, about))
        self._join(entry)
        self._messages += 1
        self._turn = entry.turn
        for observer in self.observers:
            observer.appended(entry)
        return entry

    def set_prompt(self, prompt: Prompt, reason: PromptReason) -> None:
        """Replace what stands before the messages; with the reason "clear" they leave the list too.

        `prompt.tools` is JSON as `encode_json` writes it.
        """
        self._safe_point()
        self._journal.hold(records.prompt_body(prompt, reason))
        if reason == "clear":
            self._receipt, self._resting = None, False
        self._lay(prompt, [] if reason == "clear" else self._entries)
        if not keeps_anchor(reason):
            self._anchor = None
        if reason == "clear":
            for observer in self.observers:
                observer.cleared()

    def fold(self, proposal: Compaction) -> Compaction:
        """Let replacements take the place of what they stand for; the receipt has the ids that were given."""
        self._safe_point()
        given = tuple(item for item in proposal.messages if not made_up(item.id))
        new = stand_ins(self._entries, given, self._messages, self._encode, self._estimate)
        folded = fold(self._entries, _id, [(entry, item.of) for entry, item in zip(new, given, strict=True)])
        if open_calls(folded) or mend(folded, self._encode, self._estimate) != folded:
            raise ValueError("a compaction may not part a call from its result")
        messages = tuple(replace(item, id=entry.id) for item, entry in zip(given, new, strict=True))
        receipt = replace(proposal, id=f"c{self._compactions + 1}", messages=messages)
        self._journal.write(records.compaction_body(receipt, new))
        self._messages += sum(item.id is None for item in given)
        self._compactions += 1
        self._receipt, self._resting = receipt, False
        self._anchor = None
        self._lay(self._prompt, folded)
        return receipt

    async def undo(self, of: str, *, files: bool | None = None) -> None:
        """Take back the newest compaction (the exact messages return), or rewind to before a user message.

        Args:
            files: that the files went back too, for the record.

        Raises:
            CodeAgentError: there is nothing of that id that can be undone.
        """
        self._safe_point()
        nothing = CodeAgentError("{id} is neither the newest compaction nor a message to go back to.", id=of)
        if self._journal.size == 0:
            raise nothing
        body = records.body("undo", {"of": of, "files": files})
        # What it leads to is worked out before it is written: the list as it was is on disk alone.
        line = records.line(self._journal.seq + 1, records.stamp(0), body)
        found = await asyncio.to_thread(read_state, self.path, self._shape, self._estimate, line)
        if found.refused or open_calls(found.state.entries):
            raise nothing
        self._journal.write(body)
        before = {entry.id for entry in self._entries}
        self._adopt(found.state)
        if gone := before.difference(entry.id for entry in self._entries):
            for observer in self.observers:
                observer.taken_back(gone)

    def report(
        self, usage: Usage, entry_id: str, estimated: int, cost_usd: float | None = None, model: str = ""
    ) -> None:
        """Keep what the reply `entry_id` by `model` cost; `estimated`: our own count for its request."""
        self._journal.write(records.usage_body(entry_id, usage, estimated, cost_usd, model=self._other(model)))
        self._spent = self._spent.plus(usage, cost_usd)
        self._anchor = anchor_at(self._entries, entry_id, usage)

    def spend(self, usage: Usage, cost_usd: float | None, purpose: str, model: str = "") -> None:
        """Keep what a request beside the conversation cost, a summary for example; filed with the newest message."""
        newest = self._entries[-1].id if self._entries else "m0"
        self._journal.hold(records.usage_body(newest, usage, None, cost_usd, purpose, self._other(model)))
        self._spent = self._spent.plus(usage, cost_usd)

    def rename(self, name: str) -> None:
        offset = self._journal.size
        self._journal.hold(records.body("rename", {"name": name}))
        self._name = name
        self._renamed_at = offset

    def note(self, text: str) -> None:
        """Keep a warning that was shown."""
        self._journal.hold(records.body("note", {"text": text}))

    def checkpoint(self, fields: Mapping[str, object]) -> None:
        """Keep what became of files; filed with the newest message."""
        newest = self._entries[-1].id if self._entries else "m0"
        self._journal.hold(records.body("checkpoint", {"message": newest, **fields}))

    def reshape(self, shape: WireShape) -> None:
        """Write the messages as another endpoint wants them; a safe point, with `set_prompt(…, "model")` behind it."""
        self._safe_point()
        self._shape = shape
        encoded = ((entry, encode(entry.message, shape)) for entry in self._entries)
        self._lay(self._prompt, [replace(entry, wire=wire, tokens=self._estimate(wire)) for entry, wire in encoded])

    def repair_pairs(self) -> tuple[Entry, ...]:
        """Answer every open call with a failed "(interrupted)", in order."""
        calls = self.open_calls
        return tuple(
            self.append(ToolMessage(call.id, call.name, INTERRUPTED), origin="tool", failed=True) for call in calls
        )

    async def sync(self) -> None:
        """Have the disk keep all of it (fsync in a thread): at the end of a turn and after a compaction."""
        if self._name != self.session.name and self._journal.size - self._renamed_at > _NAME_REACH:
            self.rename(self._name or "")
        await self._journal.sync()

    def close(self) -> None:
        """Let go of the file; nothing can be written afterwards."""
        self._journal.close()

    # ---- inside ----------------------------------------------------------------------------------------------------

    def _lay(self, prompt: Prompt, entries: list[Entry]) -> None:
        """Build anew what is otherwise only added to."""
        self._prompt: Prompt = prompt
        self._entries: list[Entry] = entries
        self._tokens = sum(entry.tokens for entry in entries)
        system = self._encode(SystemMessage(prompt.system))
        self._wire = [system, *(entry.wire for entry in entries)]
        self._open = open_calls(entries)

    def _join(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._wire.append(entry.wire)
        self._tokens += entry.tokens
        match entry.message:
            case AssistantMessage(calls=calls):
                self._open = list(calls)
            case ToolMessage(call_id=id):
                self._open = without(self._open, id)

    def _other(self, model: str) -> str | None:
        """The model's name where it is not the one that the session began with."""
        return model if model and model != self.session.model else None

    def _awaits(self, message: Message) -> bool:
        return isinstance(message, ToolMessage) and any(call.id == message.call_id for call in self._open)

    def _safe_point(self) -> None:
        if self._open:
            raise ValueError("calls are open: their results come first")

    def _encode(self, message: Message) -> bytes:
        return encode(message, self._shape)


def _id(entry: Entry) -> str:
    return entry.id
