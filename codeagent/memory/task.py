"""Task memory: constraints, progress and scratch in the project's files, which survive every loss of context.

What the model has of it is one block (`digest.render`). It stands at the very start of the system prompt, renewed at
each safe point; what changes in between travels in the newest message.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import cast

from codeagent.core.errors import StoreError
from codeagent.core.events import Notice
from codeagent.core.sections import Section
from codeagent.core.task import TaskPart, Updated
from codeagent.core.tokens import estimate_tokens
from codeagent.memory import board
from codeagent.memory.audit import Audit, digest
from codeagent.memory.digest import AGAIN, EMPTY, Texts, render
from codeagent.memory.guarded import GuardedTattoos
from codeagent.memory.taskfiles import NAMES, Name, TaskFiles
from codeagent.memory.versions import Commits, Versions
from codeagent.text.secrets import find_secret

FIRST = -100
"""Order of the block's section: before anything else."""
_STATED: tuple[TaskPart, ...] = ("goal", "in_progress", "open")
"""Parts that are stated anew as a whole; to the others is added."""
_OFFERED, _OFTEN = 5, 3


class TaskMemory:
    """What the model has and does with the files of one project. Implements `core.task.TaskBoard`."""

    def __init__(
        self, files: TaskFiles, audit: Audit, versions: Versions, now: Callable[[], datetime], *, commit: bool = False
    ) -> None:
        """With `commit` each change becomes a commit of its own, where there is a repository."""
        self.audit = audit
        self.versions = versions
        self._files = files
        self._now = now
        self._commits = Commits(versions, audit, wanted=commit)
        self.guarded = GuardedTattoos(files, audit, self._commits, now)
        self._texts = Texts()
        self._known: set[str] = set()
        """Points that the model wrote or was told of, beside those in its block."""
        self.block = ""
        """As the files were when they were last read."""
        self.sent = ""
        """The block that the model has; what it changed itself counts as sent."""
        self.sendings = 0

    # ---- what the model gets ---------------------------------------------------------------------------------------

    def load(self, *, begins: bool = False) -> str:
        """Read the files anew: the block they make. Loading again changes nothing. `begins`: note it also when there
        is nothing."""
        self._texts = self._files.read()
        self.block = render(self._texts, self._files.room)
        self.audit.keep(self.block)
        if self.block or self.sent or begins:
            texts = (("user tattoo", self._texts.user), *((name, self.text(name)) for name in NAMES))
            self.audit.log("load", f"{', '.join(f'{name} {_lines(text)} lines' for name, text in texts)}; {self._size}")
        return self.block

    def section(self) -> Section | None:
        """The block for the prompt of a safe point."""
        self.load(begins=not self.sendings)
        self._give("injection", "at the start of the system prompt")
        return Section("task_memory", self.block, order=FIRST) if self.block else None

    def section_again(self) -> Section | None:
        """The block as the session has it, for the prompt of a conversation beside it."""
        return Section("task_memory", self.block, order=FIRST) if self.block else None

    def again(self, *, stale: bool = False) -> str:
        """The block, as it was last read, for the newest message; "" when there never was any. `stale`: an older one
        stands in the messages."""
        if not (self.block or self.sent or stale):
            return ""
        self._give("reload", "in the newest message")
        return f"{AGAIN}\n{self.block}" if self.block else EMPTY

    @property
    def digest(self) -> str:
        return digest(self.block)

    def snapshot_time(self) -> float | None:
        """When the snapshot was last changed, in seconds since 1970; None while it says nothing."""
        return self._files.modified("snapshot") if board.says(self._texts.snapshot) else None

    # ---- what changes it -------------------------------------------------------------------------------------------

    async def update(self, section: str, content: str, *, own: bool = True) -> Updated:
        """See `core.task.TaskBoard`; `own`: the model does it, and is held to what it has
        seen; what a person adds to a list takes nothing away."""
        self.load()
        if reason := find_secret(content):
            return self._refused(f"This looks like {reason}; task memory travels with every request.")
        points = board.items(board.harmless(content))
        if not points and section not in _STATED:
            return self._refused("content is empty.")
        name: Name
        if section == "notes":
            name, text = "notes", board.append(self._files.base("notes"), points)
        elif section == "tattoo":
            there = {board.same(rule) for rule in board.items(self._texts.tattoo)}
            new = [point for point in points if board.same(point) not in there]
            name, text = "tattoo", board.append(self._files.base("tattoo"), new) if new else self.text("tattoo")
        else:
            part = cast("TaskPart", section)
            if own and part in _STATED and (unseen := self._unseen(part, points)):
                return self._refused(
                    f"There is more under this heading than you have seen:\n{unseen}\nSend the section again, with "
                    "what shall stay of it."
                )
            name, text = "snapshot", self._edited(part, points, own)
        if own:
            self._known |= {board.same(point) for point in points}
        if text == self.text(name):
            return Updated(f"{name}.md says so already.")
        await self.write(name, text, own=own)
        return Updated(f"Written to {name}.md.")

    def declined(self, content: str) -> None:
        """See `core.task.TaskBoard`."""
        self.audit.log("refusal", f"tattoo: the user did not agree to {content}")

    async def write(self, name: Name, text: str, *, own: bool = False) -> None:
        """Put `text` in the place of a file; `own`: the model did it and knows. The first file brings the others
        along, which say what they are for. Raises StoreError."""
        known = own and self.block == self.sent
        first = not self.folder.exists()
        try:
            if name == "tattoo":
                self.guarded.lay_aside(self._files.path(name))
            before = await asyncio.to_thread(self._files.write, name, text)
        except StoreError as error:
            self.audit.log("refusal", f"{name}: {error}")
            raise
        self.load()
        self.audit.log("update", f"{name} {before} -> {len(text.encode('utf-8', 'replace'))} bytes; {self._size}")
        if known:
            self.sent = self.block
        made = await self.create(commit=False) if first else []
        await self._commits.keep((f"{name}.md", *made), f"Update {name} of task memory")

    async def create(self, *, commit: bool = True) -> list[str]:
        """Make the files that are not there yet, with their headers; their names. Raises StoreError."""
        missing = [name for name in NAMES if not self._files.exists(name)]
        for name in missing:
            await asyncio.to_thread(self._files.write, name, self._files.blank(name))
        made = [f"{name}.md" for name in missing]
        if made:
            self.audit.log("update", f"made {', '.join(made)}")
            self.load()
        if made and commit:
            await self._commits.keep(made, "Begin task memory")
        return made

    async def archive(self) -> Path:
        """Lay the snapshot aside and empty it; where it lies now. Raises StoreError."""
        self.load()
        if self.snapshot_time() is None:
            raise StoreError("There is no snapshot to archive.")
        emptied = self.text("snapshot")
        kept = [part for part in board.HEADINGS if board.section(emptied, part)]
        for part in kept:
            emptied = board.replace(emptied, part, ())
        return await self._lay_aside("snapshot", emptied if kept else self._files.blank("snapshot"))

    async def clear(self, name: Name) -> Path | None:
        """Begin a file anew; where what it held lies now, None when it said nothing. Raises StoreError."""
        self.load()
        if not board.rest(self.text(name)) and not board.says(self.text(name)):
            return None
        return await self._lay_aside(name, self._files.blank(name))

    async def _lay_aside(self, name: Name, text: str) -> Path:
        data = await asyncio.to_thread(self._files.held, name)
        path = await asyncio.to_thread(self._files.shelve, self.folder / f"{name}.md", data or b"", self._now())
        await self._commits.keep((f"archive/{path.name}",), f"Archive {name} of task memory")
        await self.write(name, text)
        self.audit.log("archive", path.name)
        return path

    def promotable(self) -> list[tuple[str, int]]:
        """Notes that came three times or more and are no constraints yet, with how often; the most frequent first."""
        self.load()
        notes = board.items(self._texts.notes)
        newest = {board.same(note): note for note in notes}
        rules = {board.same(rule) for rule in board.items(self._texts.tattoo)}
        counts = Counter(board.same(note) for note in notes).most_common()
        return [(newest[key], count) for key, count in counts if count >= _OFTEN and key not in rules][:_OFFERED]

    async def roll_back(self, version: str) -> list[str]:
        """Make the files exactly what they were at `version`, also absent; the names of those that differed. What they
        held goes to `archive/`, and with `commit` into a version of its own. Raises StoreError."""
        files = [f"{name}.md" for name in NAMES]
        found = await self.versions.content(version, files)
        held = {name: await asyncio.to_thread(self._files.held, name) for name in NAMES}
        differing = [name for name in NAMES if held[name] != found.get(f"{name}.md")]
        if differing:
            await self._commits.keep(files, "Keep task memory as it was before going back")
        shelved = [
            await asyncio.to_thread(self._files.shelve, self.folder / f"{name}.md", data, self._now())
            for name in differing
            if (data := held[name])
        ]
        for name in differing:
            await asyncio.to_thread(self._files.restore, name, found.get(f"{name}.md"))
        changed = [f"{name}.md" for name in differing]
        self.audit.log("rollback", f"to {version}: {', '.join(changed) or 'nothing changed'}")
        self.load()
        if changed:
            names = (*changed, *(f"archive/{path.name}" for path in shelved))
            await self._commits.keep(names, f"Go back to {version} in task memory")
        return changed

    # ---- what others ask -------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        return self._files.folder

    def text(self, name: Name) -> str:
        """The file as it was last read."""
        text: str = getattr(self._texts, name)
        return text

    def draft(self, name: Name) -> str:
        """The file as it is, or what a new one begins with."""
        self.load()
        return self._files.base(name)

    def notices(self) -> tuple[Notice, ...]:
        """What the person should know, each told once."""
        return (*self._files.notices(), *self._commits.notices())

    def close(self) -> None:
        """Let other programs write."""
        self.guarded.close()
        self._files.close()

    # ---- inside ----------------------------------------------------------------------------------------------------

    @property
    def _size(self) -> str:
        return f"about {estimate_tokens(self.block)} tokens, digest {self.digest or '-'}"

    def _give(self, event: str, where: str) -> None:
        self.sent = self.block
        self.sendings += 1
        if self.block:
            self.audit.log(event, f"{where}; {self._size}")

    def _refused(self, why: str) -> Updated:
        self.audit.log("refusal", why)
        return Updated(f"{why} Nothing was written.", failed=True)

    def _unseen(self, part: TaskPart, points: Sequence[str]) -> str:
        """What stands there, would be dropped, and is not in the context of the model; from now on it is."""
        block = board.same(self.sent)
        kept = self._known | {board.same(point) for point in points}
        there = board.items(board.stated(self._texts.snapshot, part))
        unseen = [item for item in there if board.same(item) not in kept and board.same(item) not in block]
        self._known |= {board.same(item) for item in unseen}
        return "\n".join(f"- {item}" for item in unseen)

    def _edited(self, part: TaskPart, points: Sequence[str], own: bool) -> str:
        text = self._files.base("snapshot")
        stated = part == "goal" or (own and part in _STATED)
        text = board.replace(text, part, points) if stated else board.add(text, part, points)
        earlier: dict[TaskPart, tuple[TaskPart, ...]] = {"done": ("in_progress", "open"), "in_progress": ("open",)}
        for other in earlier.get(part, ()):
            text = board.remove(text, other, points)
        return text


def _lines(text: str) -> int:
    return len(text.splitlines())
