"""Content as it streams, parted where its server does not: thinking in tags, and calls written as text.

Both are decided late and safely: what might still become a tag is held back, what turns out to be none comes as text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from codeagent.llm.written import MARKS, Written, bare_block, read_block

Part = tuple[Literal["text", "thought"], str]

_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "seed:think", "reasoning")},
    "[THINK]": "[/THINK]",
}
_CLOSERS = tuple(_TAGS.values())
_LATE = ("<think>", "<thinking>", "<seed:think>", "[THINK]")
"""Tags that open a thought at the beginning of a later line, too; the others are words that documents use."""
_MARGIN = 60
"""Characters of a line in which a fence can begin."""
_QUOTES = ("`", '"', "'")
_LOST = re.compile(r"</(?:think|thinking|seed:think)>[ \t]*(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class Parted:
    """What a whole content came to."""

    parts: list[Part]
    """What was still held back."""
    calls: list[Written]
    text: str
    """The answer, without thinking and calls."""
    lost: str = ""
    """Thinking that was taken for text until its closing tag came: the opening one stood in the prompt."""


class Parting:
    """The content of one reply."""

    def __init__(self, names: Collection[str] = (), *, thinking: bool = False, bare: bool = False) -> None:
        """`names` of the tools that were offered; `thinking`: the content begins inside a thought, whose opening tag
        stands in the prompt; `bare`: JSON alone at the end is a call too."""
        self._names = names
        self._bare = bare
        self._marks = (*_LATE, *(MARKS if names else ()))
        self._state: Literal["start", "thought", "text", "held"] = "start"
        self._assumed = thinking
        self._closers = _CLOSERS
        self._apart = False
        self._tagged = False
        """A thought has come and gone."""
        self._late: tuple[str, int] | None = None
        """The tag of a thought in the middle of the answer, and how many pieces of thought there were before."""
        self._tail = ""
        """What has not been told yet."""
        self._text: list[str] = []
        self._thought: list[str] = []
        self._code = _Code()

    def apart(self) -> None:
        """The server parts thinking itself: content that has not begun inside a tag of its own is all answer."""
        self._apart = True
        if self._assumed and not self._thought:
            self._state, self._assumed = "start", False

    def add(self, piece: str) -> list[Part]:
        """What can be told now."""
        self._tail += piece
        parts: list[Part] = []
        while True:
            before = self._state, len(self._tail)
            match self._state:
                case "start":
                    self._start()
                case "thought":
                    parts += self._think()
                case "text":
                    parts += self._say()
                case "held":
                    pass
            if before == (self._state, len(self._tail)):
                return parts

    def _start(self) -> None:
        """Before the first word: a tag, or the answer."""
        begun = self._tail.lstrip()
        for tag, closer in _TAGS.items():
            if begun.startswith(tag):
                self._tail, self._state, self._closers = begun[len(tag) :], "thought", (closer,)
                self._assumed = False
                return
        if begun and not any(tag.startswith(begun) for tag in _TAGS):
            self._tail = begun if self._tagged else self._tail
            self._state = "thought" if self._assumed else "text"

    def _think(self) -> list[Part]:
        for closer in self._closers:
            at = self._tail.find(closer)
            while at >= 0 and self._quoted(at, len(closer)):
                at = self._tail.find(closer, at + 1)
            if at >= 0 and self._opens_quote(at) and at + len(closer) == len(self._tail):
                told, self._tail = self._tail[:at], self._tail[at:]
                return self._as_thought(told)
            if at >= 0:
                told, self._tail = self._tail[:at], self._tail[at + len(closer) :]
                self._state, self._assumed, self._tagged, self._late = "start", False, True, None
                return self._as_thought(told)
        keep = _possible(self._tail, self._closers)
        told, self._tail = self._tail[: len(self._tail) - keep], self._tail[len(self._tail) - keep :]
        return self._as_thought(told)

    def _quoted(self, at: int, size: int) -> bool:
        """Whether the tag there is only spoken of."""
        return self._opens_quote(at) and self._tail[at + size : at + size + 1] == self._before(at)

    def _opens_quote(self, at: int) -> bool:
        return self._before(at) in _QUOTES

    def _before(self, at: int) -> str:
        return self._tail[at - 1 : at] if at else self._thought[-1][-1:] if self._thought else ""

    def _as_thought(self, told: str) -> list[Part]:
        if not told:
            return []
        self._thought.append(told)
        return [("thought", told)]

    def _say(self) -> list[Part]:
        at = 0
        while (at := _earliest(self._tail, self._marks, at)) >= 0:
            code = self._code.after(self._tail[:at])
            late = next((tag for tag in _LATE if self._tail.startswith(tag, at)), None)
            if not code.inside and (late is None or not (self._apart or code.begun.strip())):
                return self._part(at, late)
            at += 1
        keep = _possible(self._tail, self._marks)
        said, self._tail = self._tail[: len(self._tail) - keep], self._tail[len(self._tail) - keep :]
        return self._as_text(said)

    def _part(self, at: int, tag: str | None) -> list[Part]:
        """The text ends there: a thought begins by `tag`, or what may be a call."""
        said, self._tail = self._tail[:at], self._tail[at + len(tag or "") :]
        told = self._as_text(said)
        if tag is None:
            self._state = "held"
        else:
            self._state, self._closers, self._late = "thought", (_TAGS[tag],), (tag, len(self._thought))
        return told

    def _as_text(self, said: str) -> list[Part]:
        if not said:
            return []
        self._code = self._code.after(said)
        self._text.append(said)
        return [("text", said)]

    def finish(self, *, whole: bool = True) -> Parted:
        """What remains; calls are looked for only in a reply that is `whole`."""
        rest, self._tail = self._tail, ""
        if self._state == "thought":
            return self._unclosed(rest, whole)
        calls = read_block(rest, self._names) if self._state == "held" and whole else []
        parts = [] if calls else self._as_text(rest)
        text, lost = "".join(self._text), ""
        found = None if self._thought or self._apart else _closing(text)
        if found is not None:
            lost, text = text[: found.start()], text[found.end() :].lstrip()
        if not calls and self._bare and whole:
            text, calls = bare_block(text, self._names)
        return Parted(parts, calls, text.rstrip() if calls else text, lost)

    def _unclosed(self, rest: str, whole: bool) -> Parted:
        """Thinking to the end; where that was only assumed and the reply is whole, it was the answer."""
        said = "".join(self._text)
        if self._late is not None:
            tag, at = self._late
            text = tag + "".join(self._thought[at:]) + rest
            del self._thought[at:]
            return Parted([("text", text)], [], said + text)
        if not self._assumed or not whole:
            return Parted(self._as_thought(rest), [], said)
        text = "".join(self._thought) + rest
        self._thought.clear()
        return Parted([("text", text)] if text else [], [], text)

    @property
    def thought(self) -> str:
        return "".join(self._thought)


@dataclass(frozen=True, slots=True)
class _Code:
    """Whether the text so far ends inside code."""

    fenced: bool = False
    begun: str = ""
    """How the last line begins, which may go on."""
    ticks: int = 0
    """Backticks in it."""

    @property
    def inside(self) -> bool:
        return self.fenced or self.ticks % 2 == 1

    def after(self, text: str) -> _Code:
        first, *lines = text.split("\n")
        fenced, begun, ticks = self.fenced, (self.begun + first)[:_MARGIN], self.ticks + first.count("`")
        for line in lines:
            fenced ^= begun.lstrip().startswith(("```", "~~~"))
            begun, ticks = line[:_MARGIN], line.count("`")
        return _Code(fenced, begun, ticks)


def _closing(text: str) -> re.Match[str] | None:
    """A closing tag outside code that nothing opened."""
    for found in _LOST.finditer(text):
        if not _Code().after(text[: found.start()]).inside:
            return found
    return None


def _earliest(text: str, marks: Collection[str], start: int) -> int:
    return min((at for mark in marks if (at := text.find(mark, start)) >= 0), default=-1)


def _possible(text: str, marks: Collection[str]) -> int:
    """How many characters at the end may become one of `marks`."""
    longest = max(map(len, marks), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return size
    return 0
