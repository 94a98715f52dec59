"""Hooks: executables of a project that run at certain moments and whose output joins the model's context."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codeagent.core.display import plain
from codeagent.core.events import Notice
from codeagent.core.keeping import keep
from codeagent.core.messages import encode_json, scrub
from codeagent.core.paths import Project
from codeagent.core.ports import Archive

HookEvent = Literal["pre_task", "post_edit", "on_compact"]

SECONDS = 30.0
OUTPUT = 8_000
"""Characters of one hook's output that join the context; the whole is archived."""
_WHOLE = 1_000_000
"""Bytes of it that are kept at all."""

_UNTRUSTED = "The hooks of this folder are not run until you trust it: codeagent config trust"


@dataclass(frozen=True, slots=True)
class Hooked:
    """What the hooks of one moment gave: text for the model ("" for none), news for the person."""

    text: str = ""
    notices: tuple[Notice, ...] = ()


class Hooks:
    """Runs `.code-agent-cli/hooks/<event>` and `<event>.<ending>`, one after the other, by name."""

    def __init__(
        self,
        project: Project,
        environ: Mapping[str, str],
        trusted: Callable[[], bool],
        archive: Archive,
        *,
        seconds: float = SECONDS,
    ) -> None:
        """`trusted` is asked before each run: a hook that has changed since is not run."""
        self._project = project
        self._environ = environ
        self._trusted = trusted
        self._archive = archive
        self._seconds = seconds
        self._told: set[str] = set()

    async def run(self, event: HookEvent, *, context: int, **about: Any) -> Hooked:
        """Run the hooks of `event`; `about` is what they read as JSON, `context` the tokens in use. Never raises."""
        paths = self._paths(event)
        if not paths:
            return Hooked()
        if not self._trusted():
            return Hooked("", self._once(_UNTRUSTED, {}))
        given = encode_json({"event": event, "project": str(self._project.top), **about})
        texts: list[str] = []
        notices: list[Notice] = []
        for path in paths:
            # What cannot be read was not part of what was trusted.
            if not os.access(path, os.X_OK | os.R_OK):
                notices += self._once("The hook {name} is not executable and was not run.", {"name": path.name})
                continue
            text, trouble = await self._one(path, given, context)
            if trouble:
                notices.append(Notice("The hook {name} {trouble}.", {"name": path.name, "trouble": trouble}, "warning"))
            if text:
                texts.append(f"[Output of the project's hook {path.name}]\n{text}")
        return Hooked("\n\n".join(texts), tuple(notices))

    def _paths(self, event: str) -> list[Path]:
        try:
            found = sorted(path for path in (self._project.folder / "hooks").iterdir() if path.is_file())
        except OSError:
            return []
        return [path for path in found if path.name == event or path.name.startswith(f"{event}.")]

    def _once(self, message: str, arguments: Mapping[str, object]) -> tuple[Notice, ...]:
        notice = Notice(message, arguments, "warning")
        if str(notice) in self._told:
            return ()
        self._told.add(str(notice))
        return (notice,)

    async def _one(self, path: Path, given: bytes, context: int) -> tuple[str, str]:
        """What one hook prints, bounded, and what went wrong with it ("" for nothing)."""
        reader, writer = os.pipe()
        output, stream = os.fdopen(reader, "rb", 0), asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), output
        )
        try:
            child = await asyncio.create_subprocess_exec(
                str(path),
                cwd=self._project.top,
                env={**self._environ, "AGENT_CONTEXT_LEN": str(context)},
                stdin=asyncio.subprocess.PIPE,
                # A pipe of our own: of one of asyncio's it would be waited for until everybody has let go of it.
                stdout=writer,
                stderr=writer,
                start_new_session=True,
            )
        except OSError as error:
            transport.close()
            return "", f"could not be run: {error.strerror or error}"
        finally:
            os.close(writer)
        got, trouble = bytearray(), ""
        try:
            await asyncio.wait_for(_talk(child, given, stream, got), self._seconds)
        except TimeoutError:
            trouble = f"was stopped after {self._seconds:g} seconds"
        finally:
            # With all that it left running in the background.
            _kill(child.pid)
            transport.close()
            await child.wait()
        if not trouble and child.returncode:
            trouble = f"failed with exit code {child.returncode}"
        text = plain(scrub(got.decode("utf-8", "replace"))).strip()
        return (await self._bounded(text, path.name, cut=len(got) == _WHOLE)), trouble

    async def _bounded(self, text: str, name: str, *, cut: bool) -> str:
        if len(text) <= OUTPUT:
            return text
        _, where = await asyncio.to_thread(keep, self._archive, f"hook-{name}", text)
        of = "of its first megabyte " if cut else ""
        return f"{text[:OUTPUT]}\n[... {len(text) - OUTPUT} characters left out; {of}{where} ...]"


async def _talk(child: asyncio.subprocess.Process, given: bytes, stream: asyncio.StreamReader, got: bytearray) -> None:
    """Give it its input, which it need not read, and take its output until it ends."""
    assert child.stdin is not None
    child.stdin.write(given)
    child.stdin.close()
    reading = asyncio.create_task(_read(stream, got))
    try:
        await child.wait()
        # A process left in the background may hold the output open; what has come until now is enough.
        await asyncio.wait({reading}, timeout=0.2)
    finally:
        reading.cancel()


async def _read(stream: asyncio.StreamReader, got: bytearray) -> None:
    while data := await stream.read(65_536):
        got += data[: max(0, _WHOLE - len(got))]


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)
