"""The block of task memory that stands before everything else: all rules, and of the rest what is needed to go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codeagent.core.display import plain
from codeagent.core.task import TaskPart
from codeagent.core.tokens import estimate_tokens
from codeagent.memory import board

BEGIN, END = "AGENT MEMORY BEGIN", "AGENT MEMORY END"
AGAIN = "[Task memory as it is on disk now. It replaces the block sent earlier and wins over any summary.]"
"""Stands above a block that travels in a message."""
EMPTY = "[Task memory is empty now: the block sent earlier no longer holds.]"
"""Stands in the place of such a block."""
RULES, LINES = 20, 200
"""A tattoo longer than that is warned about: rules that are many are read by nobody."""
LONG = 16_000
"""Characters of a tattoo from which on it is warned about."""
ROOM = 16_000
"""Tokens that hard constraints may take, where nobody says otherwise."""
_NOTES = 5
_NOTE = 240
_SHOWN: tuple[tuple[TaskPart, int], ...] = (("goal", 600), ("in_progress", 800), ("decisions", 1_000))
"""Parts of the snapshot and the characters that each may take."""
_REST, _ALL = 600, 1_600
"""Characters of what stands under no known heading, beside such headings and alone."""
_TITLES = {
    False: ("Hard constraints (must be obeyed)", "Current task snapshot", "Scratch notes (may be stale)"),
    True: ("硬约束（必须遵守）", "当前任务快照", "临时笔记（可能过期，仅供参考）"),
}
_WINS = {
    False: "In this project (these win over the ones above):",
    True: "本项目（与上面冲突时以此为准）：",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """The files of task memory as they are; "" for what is not there."""

    user: str = ""
    """The tattoo of the user, for every project."""
    tattoo: str = ""
    snapshot: str = ""
    notes: str = ""


def render(texts: Texts, room: int = ROOM) -> str:
    """The block between its marks; "" when the files say nothing. The same texts give the same bytes.

    Args:
        room: tokens that hard constraints may take.
    """
    chinese = board.chinese("\n".join((texts.user, texts.tattoo, texts.snapshot, texts.notes)))
    bodies = (_constraints(texts, chinese, room), _progress(texts.snapshot, chinese), _scratch(texts.notes))
    parts = [f"## {title}\n{body}" for title, body in zip(_TITLES[chinese], bodies, strict=True) if body]
    if not parts:
        return ""
    inner = plain("\n\n".join(parts)).replace("AGENT MEMORY", "AGENT-MEMORY")
    return f"=== {BEGIN} ===\n{inner}\n=== {END} ==="


def overlong(tattoo: str, room: int) -> Iterator[tuple[str, Mapping[str, object]]]:
    """What is to be said of a tattoo that is too long: templates about its {path}, with their arguments."""
    body, count, lines = board.constraints(tattoo), len(board.rules(tattoo)), tattoo.count("\n")
    tokens = estimate_tokens(body)
    if tokens > room:
        told = "{path} takes {tokens:,} tokens and {room:,} fit: the model has its beginning only. Shorten it."
        yield told, {"tokens": tokens, "room": room}
    elif len(body) > LONG:
        yield "{path} takes {tokens:,} tokens of every request: it is sent whole, but shorten it.", {"tokens": tokens}
    if count > RULES:
        yield "{path} has {rules} rules: more than {most} are hardly kept.", {"rules": count, "most": RULES}
    elif lines > LINES:
        yield "{path} has {lines} lines: more than {most} are hardly kept.", {"lines": lines, "most": LINES}


def _constraints(texts: Texts, chinese: bool, room: int) -> str:
    """The project's whole, then as much of the user's, as far as there is room."""
    own = _fitting(board.constraints(texts.tattoo), room)
    user = _fitting(board.constraints(texts.user), room - estimate_tokens(own))
    return f"{user}\n{_WINS[chinese]}\n{own}" if user and own else user or own


def _fitting(text: str, room: int) -> str:
    """As many whole lines of `text` as fit, and how many do not."""
    if not text or estimate_tokens(text) <= room:
        return text
    lines, shown, taken = text.split("\n"), 0, 0
    for line in lines:
        taken += estimate_tokens(f"{line}\n")
        if taken > room:
            break
        shown += 1
    return "\n".join([*lines[:shown], f"(cut: {len(lines) - shown} more lines do not fit; read tattoo.md for them)"])


def _progress(snapshot: str, chinese: bool) -> str:
    blocks = []
    for part, room in _SHOWN:
        if body := board.section(snapshot, part).strip():
            # The newest decisions stand last.
            shown = _cut_head(body, room) if part == "decisions" else _cut(body, room)
            blocks.append(f"### {board.HEADINGS[part][chinese]}\n{shown}")
    done, still = (len(board.items(board.section(snapshot, part))) for part in ("done", "open"))
    counted = done or still
    if rest := board.rest(snapshot):
        blocks.append(_cut(rest, _REST if blocks or counted else _ALL))
    if counted:
        blocks.append(f"(done: {done}, open: {still}; listed in .code-agent-cli/memory/snapshot.md)")
    return "\n".join(blocks)


def _scratch(notes: str) -> str:
    newest = (_cut(" ".join(note.split()), _NOTE) for note in board.items(notes)[-_NOTES:])
    return "\n".join(f"- {note}" for note in newest)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room].rstrip()} … (cut; read the file for the rest)"


def _cut_head(text: str, room: int) -> str:
    return text if len(text) <= room else f"(cut; read the file for the rest) … {text[-room:].lstrip()}"
