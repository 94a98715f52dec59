"""Which memories the model really has in its context: read from the prompt and the messages as they are sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.core.entries import Entry
from codeagent.core.ports import HistoryView
from codeagent.core.sections import ENVIRONMENT
from codeagent.memory.digest import AGAIN, BEGIN, EMPTY, END
from codeagent.memory.recall import HEADINGS, Standing

_KNOWN = {heading for headings in HEADINGS.values() for heading in headings}
_LINE = re.compile(r"- \[([^\],\s]+), ([^\]]*)\] (.*)")
_BLOCK = re.compile(f"=== {BEGIN} ===\n.*?\n=== {END} ===", re.DOTALL)
SYSTEM, TASK = "system prompt", "task memory"


@dataclass(frozen=True, slots=True)
class Injected:
    where: str
    """`SYSTEM`, or the id of the message in which it stands."""
    id: str
    """Of the fact; `TASK` for the block of task memory, of which the last counts."""
    content: str
    passage: bool = False
    """It was said earlier in the conversation, and is no fact."""


def injected(view: HistoryView) -> list[Injected]:
    """What of memory is in the context of `view`, in the order in which the model reads it. Of the blocks of task
    memory the last counts, which may say that there is none; those before it are left out."""
    first = _BLOCK.match(view.prompt.system)
    where, block = _last(view) or (SYSTEM, first[0] if first else "")
    task = [Injected(where, TASK, block)] if block else []
    found = task if where == SYSTEM else []
    found += _placed(SYSTEM, _behind_environment(view.prompt.system))
    for entry in view.entries:
        found += _placed(entry.id, _head(entry))
        found += task if where == entry.id else []
    return found


def told_last(view: HistoryView) -> str | None:
    """The block of task memory that stands last in the messages, "" when they say there is none; None without any."""
    last = _last(view)
    return last[1] if last else None


def standing(view: HistoryView) -> list[Standing]:
    """Facts and earlier passages at the heads of the messages of `view`, which a new prompt leaves there."""
    return [one for entry in view.entries for one in _lines(_head(entry))]


def _placed(where: str, text: str) -> Iterator[Injected]:
    return (Injected(where, one.id, one.content, one.passage) for one in _lines(text))


def _head(entry: Entry) -> str:
    """The message, where something stands before what was said."""
    text = entry.message.text
    return text if entry.said and not text.startswith(entry.said) else ""


def _last(view: HistoryView) -> tuple[str, str] | None:
    """(message, block) of the newest message that brings task memory."""
    for entry in reversed(view.entries):
        text = entry.message.text
        if entry.origin == "tool" and text.endswith((f"=== {END} ===", EMPTY)):
            place = max(text.rfind(AGAIN), text.rfind(EMPTY))
            text = text[place:] if place >= 0 else ""
        elif head := _head(entry):
            text = head[: head.rfind(f"\n\n{entry.said}")]
        else:
            continue
        if (block := _again(text)) is not None:
            return entry.id, block
    return None


def _behind_environment(system: str) -> str:
    """What is behind the section of the environment, which is ours alone: what files of the project say comes before
    it, also where it looks like facts."""
    mark = f"# {ENVIRONMENT}\n"
    start = system.rfind(f"\n{mark}")
    rest = system[start:] if start >= 0 else system if system.startswith(mark) else f"\n\n{system}"
    places = [place for heading in _KNOWN if (place := rest.find(f"\n\n{heading}\n")) >= 0]
    return rest[min(places) + 2 :] if places else ""


def _again(text: str) -> str | None:
    """The block that stands in `text` under the words that announce it, "" for the words that there is none."""
    _, announced, rest = text.partition(f"{AGAIN}\n")
    if found := _BLOCK.match(rest) if announced else None:
        return found[0]
    return "" if EMPTY in text else None


def _lines(text: str) -> Iterator[Standing]:
    """What `text` begins with, under headings of ours; what is farther behind has been written by others."""
    item: Standing | None = None
    lines = text.split("\n")
    if lines[0] not in _KNOWN:
        return
    for place, line in enumerate(lines):
        if item and line.startswith("  "):
            item = Standing(item.id, item.state, f"{item.content}\n{line[2:]}")
            continue
        if item:
            yield item
            item = None
        if found := _LINE.fullmatch(line):
            item = Standing(found[1], found[2], found[3])
        elif line not in _KNOWN and not (line == "" and place + 1 < len(lines) and lines[place + 1] in _KNOWN):
            return
    if item:
        yield item
