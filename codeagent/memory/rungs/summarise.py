"""Rung 2: everything before the newest user turns becomes one summary, made by one model call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.entries import Compaction, Entry, Replacement
from codeagent.core.errors import ModelError
from codeagent.core.messages import AssistantMessage, Message, SystemMessage, UserMessage, encode
from codeagent.core.ports import Estimate, Summarize
from codeagent.memory.rungs.base import Job

RUNG = 2
_ACKNOWLEDGEMENT = "Understood. I have the summary and go on from there."
_HEAD = (
    "The earlier part of this conversation was summarised to free the context. "
    "The summary stands for it; what follows it is verbatim.\n\n"
)


@dataclass(frozen=True, slots=True)
class Style:
    """How a summary is asked for and shown."""

    instruction: str
    head: str
    must_shrink: bool
    """A summary no smaller than what it stands for is a failure, and is not asked for where it could not be."""


def style(mode: str) -> Style:
    """The style of `ladder` (fixed sections) or `classic` (a few paragraphs)."""
    classic = mode == "classic"
    prompt = Path(__file__).parent.parent / "prompts" / ("classic.md" if classic else "summary.md")
    return Style(prompt.read_text(encoding="utf-8").strip(), "" if classic else _HEAD, must_shrink=not classic)


class Summarise:
    """Rebuilds the messages as user (summary), assistant (acknowledgement), and the newest turns byte for byte."""

    def __init__(
        self,
        summarize: Summarize,
        estimate: Estimate,
        style: Style,
        new_id: Callable[[], str],
        *,
        keep_turns: int = 3,
    ) -> None:
        self._summarize = summarize
        self._estimate = estimate
        self._style = style
        self._new_id = new_id
        self._keep_turns = keep_turns

    async def propose(self, job: Job) -> Compaction | None:
        """None when there is no cut, or what lies before it is too small to gain anything.

        Raises:
            CodeAgentError: the model call failed, gave nothing, or a summary no smaller than what it stands for.
        """
        entries = job.view.entries
        head = entries[: self._cut(entries, job.force)]
        size = sum(entry.tokens for entry in head)
        if all(entry.origin == "summary" for entry in head) or not self._fits(self._rebuilt(""), size):
            return None
        messages = self._rebuilt(await self._summary(job, head))
        if not self._fits(messages, size):
            raise ModelError("The summary came out no smaller than what it stands for.")
        ids = tuple(entry.id for entry in head)
        return Compaction(
            id=self._new_id(),
            rung=RUNG,
            first_kept=entries[len(head)].id if len(head) < len(entries) else "",
            messages=(Replacement(messages[0], of=ids), Replacement(messages[1])),
            tokens_before=job.tokens,
            tokens_after=max(0, job.tokens - size + self._size(messages)),
            left=ids,
            digest=job.view.prompt.digest,
            focus=job.focus,
        )

    def _rebuilt(self, summary: str) -> tuple[Message, Message]:
        return UserMessage(self._style.head + summary), AssistantMessage(_ACKNOWLEDGEMENT)

    def _size(self, messages: Sequence[Message]) -> int:
        return sum(self._estimate(encode(message)) for message in messages)

    def _fits(self, messages: Sequence[Message], size: int) -> bool:
        """Whether `messages` may take the place of so many tokens."""
        return not self._style.must_shrink or self._size(messages) < size

    async def _summary(self, job: Job, head: Sequence[Entry]) -> str:
        """Asks with the session's own prefix, so that the provider reads it from its cache."""
        system = encode(SystemMessage(job.view.prompt.system))
        instruction = self._style.instruction
        if job.focus:
            instruction += f"\n\nThe user asks you to dwell on this above all: {job.focus}"
        prefix = [system, *(entry.wire for entry in head)]
        summary = (await self._summarize(prefix, job.view.prompt.tools, instruction)).strip()
        if not summary:
            raise ModelError("The model gave an empty summary.")
        return summary

    def _cut(self, entries: Sequence[Entry], force: bool) -> int:
        """Index of the first entry to keep: a user message that opens a turn. 0 where there is none to cut at."""
        borders = [index for index, entry in enumerate(entries) if entry.origin == "user"]
        if len(borders) > self._keep_turns:
            return borders[-self._keep_turns]
        if not force:
            return 0
        if len(borders) > 1:
            return borders[-1]
        # One turn alone: asked for when it is over, the whole of it may go.
        return len(entries) if entries and _ends_a_turn(entries[-1]) else 0


def _ends_a_turn(entry: Entry) -> bool:
    return isinstance(entry.message, AssistantMessage) and not entry.message.calls
