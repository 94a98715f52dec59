"""From the lines of a session file to what the next request carries. Pure: lines are handed in, and asked for again.

The first pass reads heads only and tells the list in numbers (`timeline`); then the lines that are still in the list
are read whole. So memory is bounded by the prompt, not by the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codeagent.core.entries import Compaction, Entry, Prompt, Spent, Usage
from codeagent.core.messages import PLAIN, Message, WireShape, encode
from codeagent.core.ports import Estimate
from codeagent.core.tokens import estimate_classes
from codeagent.history import records
from codeagent.history.folding import mend
from codeagent.history.records import Head, SessionInfo, UsageRecord, message_number
from codeagent.history.timeline import Slot, Timeline

NO_PROMPT = Prompt("")


NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Anchor:
    """The newest usage: `usage.prompt_tokens` are those of the prompt and the first `entries` entries."""

    usage: Usage
    entries: int


@dataclass(frozen=True, slots=True)
class State:
    """What replay tells: the next request, and where the counters stand."""

    session: SessionInfo | None = None
    name: str | None = None
    prompt: Prompt = NO_PROMPT
    entries: tuple[Entry, ...] = ()
    turn: int = 0
    anchor: Anchor | None = None
    spent: Spent = NOTHING
    receipt: Compaction | None = None
    """The newest compaction in force, the one that can be undone."""
    resting: bool = False
    """The newest compaction was taken back, and there has been none since."""
    messages: int = 0
    """n of the highest message id "mn" ever given."""
    compactions: int = 0
    seq: int = 0
    """Of the last line."""
    renamed_at: int = 0
    """Offset of the newest rename in the file."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a session file."""

    lines: tuple[int, ...] = ()
    """Numbers (from 1) of lines that cannot be read."""
    gaps: tuple[int, ...] = ()
    """Numbers of lines before which lines are missing."""


@dataclass(frozen=True, slots=True)
class Replay:
    state: State
    damage: Damage = Damage()
    refused: bool = False
    """The newest `undo` named nothing that can be undone."""


def replay(
    lines: Iterable[tuple[int, bytes]],
    read: Callable[[int], bytes],
    shape: WireShape = PLAIN,
    estimate: Estimate = estimate_classes,
) -> Replay:
    """Fold the lines of a session into its state.

    Args:
        lines: (offset, whole line) in order; each is let go before the next is taken.
        read: gives the line at an offset once more.
        shape: how the endpoint at hand wants messages written.

    Raises:
        SessionTooNew: a line was written by a newer version.
    """
    scan = _Scan()
    for offset, data in lines:
        scan.take(offset, data)
    return _Load(read, shape, estimate).state(scan)


@dataclass(slots=True)
class _Scan:
    """The first pass."""

    timeline: Timeline = field(default_factory=Timeline)
    session: SessionInfo | None = None
    name: str | None = None
    prompt: Prompt = NO_PROMPT
    spent: Spent = NOTHING
    usage: UsageRecord | None = None
    receipts: dict[str, int] = field(default_factory=dict)
    """Compaction id -> offset of its record."""
    resting: bool = False
    turn: int = 0
    messages: int = 0
    compactions: int = 0
    seq: int = 0
    renamed_at: int = 0
    line: int = 0
    unread: int = 0
    """Damaged lines since the last good one."""
    bad: list[int] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    refused: bool = False

    def take(self, offset: int, data: bytes) -> None:
        self.line += 1
        try:
            head = records.head_of(data)
            self._apply(head, offset, data)
        except records.UNREADABLE:
            self.bad.append(self.line)
            self.unread += 1
            return
        if head.seq != self.seq + self.unread + 1:
            self.gaps.append(self.line)
        self.unread = 0
        self.seq = max(head.seq, self.seq)

    def _apply(self, head: Head, offset: int, data: bytes) -> None:
        match head.type:
            case "message":
                self.timeline.append(head.number, offset, self.line)
                self.messages = max(self.messages, head.number)
                self.turn = max(self.turn, head.turn)
            case "session":
                self._session(records.read_session(records.parse(data)))
            case "prompt":
                self._prompt(records.parse(data))
            case "usage":
                reported = records.read_usage(records.parse(data))
                self.spent = self.spent.plus(reported.usage, reported.cost_usd)
                self.usage = self.usage if reported.purpose else reported
            case "compaction":
                self._compaction(records.read_compaction(records.parse(data)), offset)
            case "undo":
                self._undo(records.read_text(records.parse(data), "of"))
            case "rename":
                self.name = records.read_text(records.parse(data), "name")
                self.renamed_at = offset

    def _session(self, info: SessionInfo) -> None:
        if self.session is None:
            self.session = info
            self.name = self.name or info.name

    def _prompt(self, fields: Mapping[str, Any]) -> None:
        self.prompt = records.read_prompt(fields)
        if fields.get("reason") == "clear":
            self.timeline.clear()
            self.resting = False
        if not keeps_anchor(fields.get("reason")):
            self.usage = None

    def _compaction(self, receipt: Compaction, offset: int) -> None:
        replacements = []
        for item in receipt.messages:
            known = (message_number(id) for id in item.of)
            replacements.append((message_number(item.id) or 0, [number for number in known if number is not None]))
        self.timeline.fold(receipt.id, replacements, offset, self.line)
        self.receipts[receipt.id] = offset
        self.usage = None
        self.resting = False
        self.messages = max(self.messages, *(number for number, _ in replacements), 0)
        self.compactions += 1

    def _undo(self, of: str) -> None:
        number = message_number(of)
        self.refused = not (self.timeline.unfold(of) if number is None else self.timeline.rewind(number))
        self.resting = self.resting or (number is None and not self.refused)
        self.usage = None


def keeps_anchor(reason: object) -> bool:
    """Whether token counts of requests before a new prompt still tell something about those after it."""
    return reason in ("start", "resume")


@dataclass(slots=True)
class _Load:
    """The second pass: the messages themselves."""

    read: Callable[[int], bytes]
    shape: WireShape
    estimate: Estimate
    bad: list[int] = field(default_factory=list)
    _parsed: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Compaction records by offset: one is asked for as often as it has messages in the list."""

    def state(self, scan: _Scan) -> Replay:
        entries = [entry for slot in scan.timeline.slots() if (entry := self._entry(slot)) is not None]
        whole = tuple(mend(entries, self._encode, self.estimate))
        damage = Damage(tuple(sorted({*scan.bad, *self.bad})), tuple(scan.gaps))
        newest = scan.timeline.newest_fold()
        receipt = records.read_compaction(self._compaction(scan.receipts[newest])) if newest is not None else None
        anchor = anchor_at(whole, f"m{scan.usage.number}", scan.usage.usage) if scan.usage is not None else None
        state = State(
            session=scan.session,
            name=scan.name,
            prompt=scan.prompt,
            entries=whole,
            turn=scan.turn,
            anchor=anchor,
            spent=scan.spent,
            receipt=receipt,
            resting=scan.resting,
            messages=scan.messages,
            compactions=scan.compactions,
            seq=scan.seq,
            renamed_at=scan.renamed_at,
        )
        return Replay(state, damage, scan.refused)

    def _entry(self, slot: Slot) -> Entry | None:
        try:
            if slot.place < 0:
                fields = records.parse(self.read(slot.offset))
            else:
                fields = self._compaction(slot.offset)["messages"][slot.place]
            return records.read_entry(fields, self._encode, self.estimate)
        except records.UNREADABLE:
            self.bad.append(slot.line)
            return None

    def _compaction(self, offset: int) -> dict[str, Any]:
        if offset not in self._parsed:
            self._parsed[offset] = records.parse(self.read(offset))
        return self._parsed[offset]

    def _encode(self, message: Message) -> bytes:
        return encode(message, self.shape)


def anchor_at(entries: Sequence[Entry], id: str, usage: Usage) -> Anchor | None:
    """The anchor that the reply `id` gives: its request carried what stands before it."""
    for index in range(len(entries) - 1, -1, -1):
        if entries[index].id == id:
            return Anchor(usage, index)
    return None
