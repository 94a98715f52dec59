"""The record that travels with a summary: made by code from the messages, never by a model.

It holds the person's own words, what they agreed to, the files and the commands. It is written into the message that
stands for what left, and read back from there at the next compaction. Every line of what others said is indented, so
that nothing in it can pass for a heading of the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from codeagent.core.entries import Entry
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.memory.assent import assents
from codeagent.memory.pastes import laid_down, own
from codeagent.memory.verify import values

MARK = "[The context was compacted here: what follows stands for the messages that left it.]"
SUMMARY = "## Summary"
RECORD = "## Record, kept by code: where the summary says otherwise, this holds"
_WORDS = "### The user's own words"
_FILES = "### Files"
_COMMANDS = "### Commands"
_BY_ID = "- by id alone: "
_ANSWERED = 3_000
"""Characters of what the user agreed to."""
_VALUES = 12
_GOAL = 200
"""Characters of what the first message begins with."""
_CHANGING = {"edit_file", "write_file"}
_ITEM = re.compile(r"- (m\d+)( in part)?(?: agrees to (m\d+), (\d+) lines)?:")
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): *(\S.*?) *\r?$", re.MULTILINE)
_EXIT = re.compile(r"(?:^\[|to free the context, )(exit \d+|killed by [\w ]+?)(?= after \d|[;\]])", re.M)
_END = 12_000
"""Characters at the end of a result among which its ending is looked for: what hooks print may stand behind it."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the person typed in one message; `text` is "" where only the id is left."""

    id: str
    text: str
    whole: bool = True
    answers: str = ""
    """The assistant's text that the message agrees to."""
    answered: str = ""
    """Id of that."""

    @property
    def agreements(self) -> list[str]:
        return [*laid_down(self.text), *([self.answers] if self.answers else [])]

    def render(self) -> str:
        answer = self.answers.split("\n") if self.answers else []
        part = "" if self.whole else " in part"
        head = f"- {self.id}{part}" + (f" agrees to {self.answered}, {len(answer)} lines" if answer else "") + ":"
        return "\n".join([head, *(f"  {line}" for line in (*answer, *self.text.split("\n")))])


@dataclass(frozen=True, slots=True)
class Ledger:
    words: tuple[Words, ...] = ()
    modified: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    """(command line, how it ended), the newest last."""

    @property
    def agreements(self) -> list[str]:
        return [one for words in self.words for one in words.agreements]


# ---- made from messages --------------------------------------------------------------------------------------------


def ledger(
    gone: Sequence[Entry], kept: Sequence[Entry], request: Entry | None, typed: Callable[[Entry], str]
) -> Ledger:
    """The record of what leaves with `gone`: records in it are taken up, and what an assent in `kept` answers too.

    `typed` gives what the person typed of an entry. `request` leaves only as far as the record in it goes: its words
    stay in a message of their own.
    """
    made: list[Ledger] = []
    spoken: Entry | None = None
    results = {entry.message.call_id: entry for entry in gone if isinstance(entry.message, ToolMessage)}
    for entry in gone:
        message = entry.message
        if MARK in message.text and (earlier := read(message.text)) is not None:
            made.append(earlier)
        # The words of the request stay in its message; what they agree to would leave.
        if entry.said is not None and (entry is not request or (spoken and assents(entry.said))):
            made.append(Ledger((_words(entry, spoken, typed),)))
        if isinstance(message, UserMessage):
            made.append(Ledger(read=tuple(image.caption for image in message.images)))
        if isinstance(message, AssistantMessage):
            if message.text.strip() and entry.origin == "model":
                spoken = entry
            made += (_deed(call, results.get(call.id)) for call in message.calls)
    for entry in kept:
        if entry.origin == "model" and entry.message.text.strip():
            break
        if entry.said is not None and spoken and assents(entry.said):
            made.append(Ledger((_words(entry, spoken, typed),)))
    return _joined(made)


def _joined(ledgers: Sequence[Ledger]) -> Ledger:
    """One record, in order; of a message told twice the first, of a command run twice the last."""
    words: dict[str, Words] = {}
    commands: dict[str, str] = {}
    for one in ledgers:
        for said in one.words:
            words.setdefault(said.id, said)
        for command, end in one.commands:
            commands.pop(command, None)
            commands[command] = end
    modified = dict.fromkeys(path for one in ledgers for path in one.modified)
    seen = dict.fromkeys(path for one in ledgers for path in one.read if path not in modified)
    return Ledger(tuple(words.values()), tuple(modified), tuple(seen), tuple(commands.items()))


def _words(entry: Entry, spoken: Entry | None, typed: Callable[[Entry], str]) -> Words:
    said = typed(entry)
    if spoken is None or not assents(said):
        return Words(entry.id, said)
    answer = spoken.message.text
    if len(answer) > _ANSWERED:
        answer = f'{answer[:_ANSWERED]}\n[... recall(id="{spoken.id}") gives the rest ...]'
    return Words(entry.id, said, answers=answer, answered=spoken.id)


def _deed(call: ToolCall, result: Entry | None) -> Ledger:
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return Ledger()
    given = given if isinstance(given, dict) else {}
    path, command = given.get("path"), given.get("command")
    if isinstance(command, str) and command.strip():
        end = ended(result.message.text) if result else ""
        return Ledger(commands=((" ⏎ ".join(command.split("\n"))[:300], end),))
    if isinstance(patch := given.get("patch"), str):
        return Ledger(modified=tuple(dict.fromkeys(_PATCHED.findall(patch))))
    if isinstance(path, str) and path.strip() and "\n" not in path:
        return Ledger(modified=(path,)) if call.name in _CHANGING else Ledger(read=(path,))
    return Ledger()


def ended(text: str) -> str:
    """How the command ended whose result this is, masked or not: "exit 2"; "" where that is not told."""
    found: list[str] = _EXIT.findall(text[-_END:])
    return found[-1] if found else ""


# ---- written and read back -----------------------------------------------------------------------------------------


def render(made: Ledger, estimate: Callable[[str], int], words: int, deeds: int) -> tuple[Ledger, str]:
    """The record within so many tokens for words and for deeds, and what of it was kept.

    What the person laid down comes first, the oldest before all, then what was agreed to, then messages whole: the
    first, and the newest. What does not fit is named by its id.
    """
    kept = _bounded(made.words, estimate, words)
    lines = [RECORD]
    if any(one.text or one.answers for one in kept):
        lines += [_WORDS, *(one.render() for one in kept if one.text or one.answers)]
    if bare := [one.id for one in kept if not (one.text or one.answers)]:
        lines += ([] if _WORDS in lines else [_WORDS]) + [f"{_BY_ID}{', '.join(bare)} (recall gives them)"]
    files = [*(f"- read {path}" for path in made.read), *(f"- modified {path}" for path in made.modified)]
    commands = [f"- {command}" + (f" → {end}" if end else "") for command, end in made.commands]
    for heading, rows in ((_FILES, files), (_COMMANDS, commands)):
        if shown := _newest(rows, estimate, deeds // 2):
            lines += [heading, *shown]
    return replace(made, words=tuple(kept)), "\n".join(lines)


def _bounded(words: Sequence[Words], estimate: Callable[[str], int], budget: int) -> list[Words]:
    chosen: dict[int, Words] = {}

    def fits(place: int, form: Words) -> bool:
        nonlocal budget
        held = estimate(chosen[place].render()) if place in chosen else 0
        size = estimate(form.render()) - held
        if not (form.text or form.answers) or size > budget:
            return False
        chosen[place], budget = form, budget - size
        return True

    for place in sorted(range(len(words)), key=lambda place: (not laid_down(words[place].text), place)):
        lines = _part(words[place], first=place == 0)
        while lines and not fits(place, _of_lines(words[place], lines)):
            lines.pop()
    for place, one in enumerate(words):
        if one.answers:
            part = chosen.get(place, Words(one.id, "", whole=False))
            fits(place, replace(part, answers=one.answers, answered=one.answered))
    for place in (*range(min(1, len(words))), *range(len(words) - 1, 0, -1)):
        fits(place, words[place])
    return [chosen.get(place, Words(one.id, "", whole=False)) for place, one in enumerate(words)]


def _part(words: Words, *, first: bool) -> list[str]:
    """What must be kept of a message that cannot be kept whole, the most needed line first."""
    if not words.whole:
        return words.text.split("\n") if words.text else []
    lines = list(laid_down(words.text))
    if first and (goal := own(words.text).strip()[:_GOAL]) and lines[:1] != [goal]:
        lines.insert(0, goal)
    if found := [value for value in values(words.text) if not any(value in line for line in lines)][:_VALUES]:
        lines.append(f"({', '.join(found)})")
    return lines


def _of_lines(words: Words, lines: Sequence[str]) -> Words:
    text = "\n".join(lines)
    return replace(words, text=text, whole=words.whole and text == words.text, answers="", answered="")


def _newest(rows: Sequence[str], estimate: Callable[[str], int], budget: int) -> list[str]:
    shown: list[str] = []
    for row in reversed(rows):
        if (budget := budget - estimate(row)) < 0:
            break
        shown.insert(0, row)
    return shown


def split(text: str) -> tuple[str, str, str]:
    """(what stands before the mark, the record's text, the summary's) of a message; the latter two "" without one."""
    before, mark, after = f"\n{text}".rpartition(f"\n{MARK}\n")
    if not mark or not after.startswith((RECORD, SUMMARY)):
        return text, "", ""
    record, _, summary = f"\n\n{after}".partition(f"\n\n{SUMMARY}\n")
    return before.strip("\n"), record.lstrip("\n"), summary


def read(text: str) -> Ledger | None:
    """The record in a message's text, None where there is none."""
    _, record, _ = split(text)
    if not record:
        return None
    words: list[Words] = []
    rows: dict[str, list[str]] = {_FILES: [], _COMMANDS: []}
    heading = ""
    lines = iter(record.split("\n"))
    pending: list[str] | None = None
    for line in lines:
        if line.startswith("  ") and pending is not None:
            pending.append(line[2:])
            continue
        if pending is not None:
            words[-1] = replace(words[-1], text="\n".join(pending))
            pending = None
        if line.startswith("### "):
            heading = line
        elif heading == _WORDS and line.startswith(_BY_ID):
            words += (Words(id, "", whole=False) for id in re.findall(r"m\d+", line))
        elif heading == _WORDS and (found := _ITEM.fullmatch(line)):
            answer = "\n".join(row[2:] for row in islice(lines, int(found[4] or 0)))
            words.append(Words(found[1], "", not found[2], answer, found[3] or ""))
            pending = []
        elif heading in rows and line.startswith("- "):
            rows[heading].append(line[2:])
    if pending is not None:
        words[-1] = replace(words[-1], text="\n".join(pending))
    return Ledger(
        tuple(words), tuple(_of(rows[_FILES], "modified ")), tuple(_of(rows[_FILES], "read ")),
        tuple(_commands(rows[_COMMANDS])),
    )  # fmt: skip


def _of(rows: Iterable[str], what: str) -> Iterator[str]:
    return (row.removeprefix(what) for row in rows if row.startswith(what))


def _commands(rows: Iterable[str]) -> Iterator[tuple[str, str]]:
    for row in rows:
        command, arrow, end = row.rpartition(" → ")
        yield (command, end) if arrow else (row, "")
