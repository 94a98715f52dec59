"""Facts that a conversation may hold, proposed by the model for `/memory suggest` alone: the person ticks each.

No turn and no compaction comes here. What is proposed is nothing until the person has said yes to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codeagent.core.errors import ModelError
from codeagent.core.messages import SystemMessage, encode
from codeagent.core.ports import HistoryView, Summarize
from codeagent.memory.entry import TYPES, Scope

MOST = 10


@dataclass(frozen=True, slots=True)
class Proposal:
    content: str
    type: str = "fact"
    scope: Scope = "project"


async def extract_facts(summarize: Summarize, view: HistoryView) -> list[Proposal]:
    """At most ten facts that the model finds in the conversation of `view`, each once; one model call.

    Raises:
        CodeAgentError: the call failed, or its answer is no list of facts.
    """
    if not view.entries:
        return []
    instruction = (Path(__file__).parent / "prompts" / "extract.md").read_text(encoding="utf-8").strip()
    messages = [encode(SystemMessage(view.prompt.system)), *(entry.wire for entry in view.entries)]
    return read_proposals(await summarize(messages, view.prompt.tools, instruction))


def read_proposals(text: str) -> list[Proposal]:
    """The proposals in a model's answer, which may say more than the JSON array. Raises ModelError."""
    start, end = text.find("["), text.rfind("]")
    try:
        forms = json.loads(text[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        forms = None
    if not isinstance(forms, list):
        raise ModelError("The model's answer holds no list of facts.", hint="Try /memory suggest again.")
    return _proposals(forms)


def _proposals(forms: Sequence[object]) -> list[Proposal]:
    found: dict[str, Proposal] = {}
    for form in forms:
        fields = form if isinstance(form, dict) else {"content": form}
        content = fields.get("content")
        if not isinstance(content, str) or not (content := " ".join(content.split())):
            continue
        type = fields.get("type")
        scope: Scope = "global" if fields.get("scope") == "global" else "project"
        found.setdefault(content, Proposal(content, type if type in TYPES else "fact", scope))
    return list(found.values())[:MOST]
