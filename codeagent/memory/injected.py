"""Which memories the model really has in its context: read from the prompt and the messages as they are sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeagent.core.ports import HistoryView
from codeagent.memory.digest import AGAIN, BEGIN, END
from codeagent.memory.recall import HEADINGS

_KNOWN = {heading for headings in HEADINGS.values() for heading in headings}
_LINE = re.compile(r"- \[([^\],\s]+), [^\]]*\] (.*)")
_BLOCK = re.compile(f"=== {BEGIN} ===\n.*?\n=== {END} ===", re.DOTALL)
SYSTEM, TASK = "system prompt", "task memory"


@dataclass(frozen=True, slots=True)
class Injected:
    where: str
    """`SYSTEM`, or the id of the message in which it stands."""
    id: str
    """Of the fact; `TASK` for the block of task memory, of which the last counts."""
    content: str


def injected(view: HistoryView) -> list[Injected]:
    """What of memory is in the context of `view`, in the order in which the model reads it."""
    first = _BLOCK.match(view.prompt.system)
    found = [Injected(SYSTEM, TASK, first[0])] if first else []
    found += [Injected(SYSTEM, id, content) for id, content in _lines(view.prompt.system)]
    for entry in view.entries:
        text = entry.message.text
        if entry.said is not None and text != entry.said and text.endswith(entry.said):
            head = text[: len(text) - len(entry.said)]
            found += [Injected(entry.id, TASK, block) for block in _again(head)]
            found += [Injected(entry.id, id, content) for id, content in _lines(head)]
        elif entry.origin == "tool" and text.endswith(f"=== {END} ==="):
            found += [Injected(entry.id, TASK, block) for block in _again(text[text.rfind(AGAIN) :])]
    return found


def _again(text: str) -> list[str]:
    """The block that stands in `text` under the words that announce it."""
    _, announced, rest = text.partition(f"{AGAIN}\n")
    found = _BLOCK.match(rest) if announced else None
    return [found[0]] if found else []


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """(id, content) of what stands under a heading of ours."""
    inside = False
    item: tuple[str, str] | None = None
    for line in text.split("\n"):
        if inside and item and line.startswith("  "):
            item = item[0], f"{item[1]}\n{line[2:]}"
            continue
        if item:
            yield item
            item = None
        if line in _KNOWN:
            inside = True
        elif inside and (found := _LINE.fullmatch(line)):
            item = found[1], found[2]
        elif line:
            inside = False
    if item:
        yield item
