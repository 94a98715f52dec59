"""A summary by another model than the one that spoke: it reads a transcript, in parts where it is too long for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from codeagent.core.errors import ModelError
from codeagent.core.messages import AssistantMessage, SystemMessage, ToolMessage, UserMessage, encode, from_wire
from codeagent.core.ports import Summarize
from codeagent.core.tokens import estimate_tokens

_LEAST = 500
"""Tokens of a transcript that are worth a request."""
_PART = "\n\nThis is part {number} of {count} of the conversation; summarise this part alone."
_MERGE = "\n\nWhat stands above are summaries of the parts of one conversation, in order; make one of them."


async def summarize_transcript(ask: Summarize, messages: Sequence[bytes], instruction: str, *, room: int) -> str:
    """A summary of `messages` by a model that can take `room` tokens; "" when it gave none for one of the parts.

    Raises:
        CodeAgentError: a request failed, or the parts' summaries are no smaller than what they stand for.
    """
    texts = list(render(messages))
    room = max(room - estimate_tokens(instruction + _PART + _MERGE), _LEAST)
    merging = False
    while len(parts := split(texts, room)) > 1:
        summaries = []
        for number, part in enumerate(parts, 1):
            told = _MERGE if merging else _PART.format(number=number, count=len(parts))
            summaries.append(await _asked(ask, part, instruction + told))
        if not all(summaries):
            return ""
        if sum(map(estimate_tokens, summaries)) >= sum(map(estimate_tokens, texts)):
            raise ModelError("The summaries of the parts came out no smaller than the conversation.")
        texts, merging = summaries, True
    return await _asked(ask, parts[0] if parts else "", instruction + (_MERGE if merging else ""))


async def _asked(ask: Summarize, part: str, instruction: str) -> str:
    message = encode(UserMessage(f"<conversation>\n{part}\n</conversation>"))
    return (await ask([message], b"[]", instruction)).strip()


def render(messages: Sequence[bytes]) -> Iterator[str]:
    """Each message as text, the system prompt left out."""
    for data in messages:
        match from_wire(json.loads(data)):
            case SystemMessage():
                pass
            case UserMessage() as said:
                yield f"[user]\n{said.described}"
            case AssistantMessage(text, calls):
                lines = [text, *(f"(calls {call.name} {call.arguments})" for call in calls)]
                yield "[assistant]\n" + "\n".join(line for line in lines if line)
            case ToolMessage(_, name, text):
                yield f"[result of {name}]\n{text}"


def split(texts: Sequence[str], room: int) -> list[str]:
    """`texts` in order, joined to parts of at most `room` tokens; one that is too long alone is cut."""
    parts: list[str] = []
    left = 0
    for text in texts:
        for piece in _pieces(text, room):
            size = estimate_tokens(piece)
            if parts and size <= left:
                parts[-1] += f"\n\n{piece}"
                left -= size + 2
            else:
                parts.append(piece)
                left = room - size - 2
    return parts


def _pieces(text: str, room: int) -> Iterator[str]:
    size = estimate_tokens(text)
    if size <= room:
        yield text
        return
    half = len(text) // 2
    yield from _pieces(text[:half], room)
    yield from _pieces(text[half:], room)
