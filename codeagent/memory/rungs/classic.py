"""The plain rule: everything before the newest user turns becomes one summary, whatever its size, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codeagent.core.entries import Compaction, Replacement
from codeagent.core.messages import AssistantMessage, UserMessage, encode
from codeagent.memory.rungs.asking import ask
from codeagent.memory.rungs.base import Job, Parts
from codeagent.memory.rungs.summarise import cut_at

RUNG = 2
_ACKNOWLEDGEMENT = "Understood. I have the summary and go on from there."
_PROMPT = Path(__file__).parent.parent / "prompts" / "classic.md"


@dataclass(frozen=True, slots=True)
class Classic:
    """Rebuilds the messages as user (summary), assistant (acknowledgement), and the newest turns byte for byte."""

    parts: Parts

    async def propose(self, job: Job) -> Compaction | None:
        """None when there is no cut.

        Raises:
            NoSummary: the model call failed or gave nothing.
        """
        entries = job.view.entries
        head = entries[: cut_at(entries, self.parts.keep_turns, whole=job.need.force)]
        if not job.need.ask or all(entry.origin == "summary" for entry in head):
            return None
        summary = await ask(self.parts.summarize, job, head, _PROMPT.read_text(encoding="utf-8").strip())
        messages = (UserMessage(summary), AssistantMessage(_ACKNOWLEDGEMENT))
        ids = tuple(entry.id for entry in head)
        gone = sum(entry.tokens for entry in head) - sum(self.parts.estimate(encode(one)) for one in messages)
        return Compaction(
            id=self.parts.new_id(),
            rung=RUNG,
            first_kept=entries[len(head)].id if len(head) < len(entries) else "",
            messages=(Replacement(messages[0], of=ids), Replacement(messages[1])),
            tokens_before=job.tokens,
            tokens_after=max(0, job.tokens - gone),
            left=ids,
            focus=job.need.focus,
        )
