"""The block of task memory that stands before everything else: all rules, and of the rest what is needed to go on."""

from __future__ import annotations

from dataclasses import dataclass

from codeagent.core.messages import scrub
from codeagent.core.task import TaskPart
from codeagent.memory import board

BEGIN, END = "AGENT MEMORY BEGIN", "AGENT MEMORY END"
AGAIN = "[Task memory as it is on disk now. It replaces the block sent earlier and wins over any summary.]"
"""Stands above a block that travels in a message."""
RULES, LINES = 20, 200
"""A tattoo longer than that is warned about: rules that are many are read by nobody."""
_TATTOO = 16_000
"""Characters of one tattoo at most; a file that long is an accident."""
_NOTES = 5
_NOTE = 240
_SHOWN: tuple[tuple[TaskPart, int], ...] = (("goal", 600), ("in_progress", 800), ("decisions", 1_000))
"""Parts of the snapshot and the characters that each may take."""
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


def render(texts: Texts) -> str:
    """The block between its marks; "" when the files say nothing. The same texts give the same bytes."""
    chinese = board.chinese("\n".join((texts.user, texts.tattoo, texts.snapshot, texts.notes)))
    bodies = (_constraints(texts, chinese), _progress(texts.snapshot, chinese), _scratch(texts.notes))
    parts = [f"## {title}\n{body}" for title, body in zip(_TITLES[chinese], bodies, strict=True) if body]
    if not parts:
        return ""
    inner = scrub("\n\n".join(parts)).replace("AGENT MEMORY", "AGENT-MEMORY")
    return f"=== {BEGIN} ===\n{inner}\n=== {END} ==="


def _constraints(texts: Texts, chinese: bool) -> str:
    user, own = (_cut(board.constraints(text), _TATTOO) for text in (texts.user, texts.tattoo))
    return f"{user}\n{_WINS[chinese]}\n{own}" if user and own else user or own


def _progress(snapshot: str, chinese: bool) -> str:
    blocks = []
    for part, room in _SHOWN:
        if body := board.section(snapshot, part).strip():
            # The newest decisions stand last.
            shown = _cut_head(body, room) if part == "decisions" else _cut(body, room)
            blocks.append(f"### {board.HEADINGS[part][chinese]}\n{shown}")
    done, still = (len(board.items(board.section(snapshot, part))) for part in ("done", "open"))
    if done or still:
        blocks.append(f"(done: {done}, open: {still}; listed in .code-agent-cli/memory/snapshot.md)")
    return "\n".join(blocks)


def _scratch(notes: str) -> str:
    newest = (_cut(" ".join(note.split()), _NOTE) for note in board.items(notes)[-_NOTES:])
    return "\n".join(f"- {note}" for note in newest)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room].rstrip()} … (cut; read the file for the rest)"


def _cut_head(text: str, room: int) -> str:
    return text if len(text) <= room else f"(cut; read the file for the rest) … {text[-room:].lstrip()}"
