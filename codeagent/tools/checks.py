"""What is said of a change at the end of its result: broken syntax, and what the user's own checks complain of."""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codeagent.core.display import plain
from codeagent.core.tools import Diff, Patch, Preview, ToolContext
from codeagent.tools.bounds import head_and_tail
from codeagent.tools.encodings import decode_output
from codeagent.tools.globs import matcher
from codeagent.tools.process import capture
from codeagent.tools.syntax import broken

SECONDS = 30.0
OUTPUT = 4_000
"""Bytes of a check's output that go to the model."""
_MOST = 1_000_000
"""Bytes of output after which a check is stopped."""
_FILES = "{files}"


@dataclass(frozen=True, slots=True)
class Checks:
    """Looks at files that a tool has just changed."""

    commands: Mapping[str, str] = field(default_factory=dict)
    """Glob to the command line that is run when a file that fits was changed; `{files}` stands for those files."""
    seconds: float = SECONDS

    async def look(self, shown: Preview | None, ctx: ToolContext) -> list[str]:
        """What is wrong with the files that `shown` says were changed. Never raises; cancelled, it says so."""
        diffs = [diff for diff in _diffs(shown) if diff.after is not None]
        try:
            faults = [await asyncio.to_thread(broken, diff.path, diff.before, diff.after or "") for diff in diffs]
            for glob, command in self.commands.items() if diffs else ():
                faults.append(await self._run(glob, command, diffs, ctx))
        except asyncio.CancelledError:
            return ["The change was made; its checks were interrupted."]
        return [fault for fault in faults if fault]

    async def _run(self, glob: str, command: str, diffs: Sequence[Diff], ctx: ToolContext) -> str:
        """What the command complains of, "" for nothing."""
        try:
            fits = matcher(glob)
            names = [name for diff in diffs if fits(name := _name(diff.path, ctx))]
        except ValueError:
            return f"The check for {glob!r} was not run: that is no glob (setting tools.checks)."
        if not names:
            return ""
        line = command.replace(_FILES, shlex.join(names))
        shell = shutil.which("bash", path=ctx.environ.get("PATH")) or "/bin/sh"
        running = capture(
            [shell, "-c", line],
            cwd=ctx.roots[0],
            environ={**ctx.environ, "TERM": "dumb", "NO_COLOR": "1"},
            enough=lambda got: len(got) > _MOST,
            sandbox=ctx.jobs.sandbox,
        )
        try:
            output, code = await asyncio.wait_for(running, self.seconds)
        except TimeoutError:
            return f"The check `{line}` was stopped after {self.seconds:g} seconds."
        except OSError as error:
            return f"The check `{line}` could not be run: {error.strerror or error}."
        if code == 0:
            return ""
        end = "endless output" if code is None else f"exit {code}"
        return f"The check `{line}` failed ({end}):\n{_bounded(plain(decode_output(output)).strip())}"


def _diffs(shown: Preview | None) -> tuple[Diff, ...]:
    match shown:
        case Diff():
            return (shown,)
        case Patch(diffs):
            return diffs
        case _:
            return ()


def _name(path: str, ctx: ToolContext) -> str:
    """`path` as the diff has it, relative to the first root where it lies below."""
    place = ctx.cwd / path
    root: Path = ctx.roots[0]
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)


def _bounded(text: str) -> str:
    head, tail, left_out = head_and_tail(text, OUTPUT)
    return f"{head}\n[... {left_out} bytes left out ...]\n{tail}" if left_out else text
