"""A first CODEAGENT.md for a project, and what goes with it: the ignored local file, the files of other agents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from codeagent.core.paths import Project
from codeagent.memory.board import rules
from codeagent.memory.decoding import decode
from codeagent.memory.folder import ready
from codeagent.memory.survey import Survey, survey

LOCAL = "CODEAGENT.local.md"
_TASK_FILES = ("tattoo.md", "snapshot.md", "notes.md")
_COMMANDS = 24


class Scaffold:
    """What `/init` writes; each step says what it did and overwrites nothing it was not told to."""

    def __init__(self, project: Project) -> None:
        self._top = project.top
        self._folder = project.folder

    @property
    def path(self) -> Path:
        return self._top / "CODEAGENT.md"

    def existing(self) -> str | None:
        """What is in CODEAGENT.md now; None when there is none."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None

    def draft(self) -> str:
        """A first CODEAGENT.md from what the repository shows."""
        return render(survey(self._top))

    def write(self, text: str) -> None:
        """Put `text` in place. Raises OSError."""
        real = Path(os.path.realpath(self.path))
        aside = real.with_name(f".{real.name}.new")
        aside.write_text(text, encoding="utf-8", newline="\n")
        if real.exists():
            shutil.copymode(real, aside)
        aside.replace(real)

    def ignore_local(self) -> bool:
        """Have git ignore this machine's own file; whether there was anything to do. Raises OSError."""
        if not (self._top / ".git").exists():
            return False
        ignore = self._top / ".gitignore"
        data = ignore.read_bytes() if ignore.exists() else b""
        lines = {line.strip().removeprefix(b"/") for line in data.splitlines()}
        if lines & {LOCAL.encode(), b"*.local.md", b"*.local.*"}:
            return False
        end = b"\r\n" if b"\r\n" in data else b"\n"
        gap = end if data and not data.endswith(b"\n") else b""
        with ignore.open("ab") as file:
            file.write(gap + LOCAL.encode() + end)
        return True

    def foreign(self) -> tuple[Path, ...]:
        """Task memory of another agent that can be taken over: files of `.agent/memory/` where ours say nothing yet."""
        there = self._top / ".agent" / "memory"
        return tuple(there / name for name in _TASK_FILES if (there / name).is_file() and self._vacant(name))

    def take_over(self, paths: tuple[Path, ...]) -> None:
        """Copy `paths` into the project's memory folder; the originals stay. Raises OSError."""
        ready(self._folder)
        (self._folder / "memory").mkdir(exist_ok=True)
        for path in paths:
            shutil.copyfile(path, self._ours(path.name))

    def _vacant(self, name: str) -> bool:
        try:
            text = decode(self._ours(name).read_bytes())
        except FileNotFoundError:
            return True
        return text is not None and not rules(text)

    def _ours(self, name: str) -> Path:
        return self._folder / "memory" / name


def render(found: Survey) -> str:
    """The Markdown of a first CODEAGENT.md."""
    blocks = [f"# {found.name}"]
    if found.about:
        blocks.append(found.about)
    if found.languages:
        counts = (f"{name} ({count} file{'s' * (count != 1)})" for name, count in found.languages)
        blocks.append(f"Languages: {', '.join(counts)}.")
    if found.commands:
        lines = [f"- {purpose}: `{line}`" if purpose else f"- `{line}`" for purpose, line in found.commands[:_COMMANDS]]
        blocks += ["## Commands", "\n".join(lines)]
    if found.layout:
        blocks += ["## Layout", "\n".join(f"- `{name}/`: {what}" for name, what in found.layout)]
    if found.instructions:
        blocks += ["## Further instructions", "\n".join(f"- @{name}" for name in found.instructions)]
    blocks += ["## Conventions", f"- Personal notes for this machine stand in {LOCAL}, which is not committed."]
    return "\n\n".join(blocks).replace("\n\n- ", "\n- ") + "\n"
