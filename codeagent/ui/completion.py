"""Completion in the input: slash commands at its beginning, files after "@"."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Protocol

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from codeagent.ui.files import FileIndex

_COMMAND = re.compile(r"/[\w-]*")
_FILE = re.compile(r"(?:^|(?<=\s))@(\S*)$")


class Named(Protocol):
    """A command as far as completion knows it."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


class DraftCompleter(Completer):
    """Completes what stands before the cursor."""

    def __init__(self, files: FileIndex) -> None:
        self._files = files
        self.commands: Sequence[Named] = ()
        """Empty until the commands are loaded."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Commands only: files are listed in the background."""
        text = document.text_before_cursor
        if not _COMMAND.fullmatch(text):
            return
        for command in matching(self.commands, text[1:]):
            label = f"/{command.name} {command.arguments}".rstrip()
            wants = " " if command.arguments.startswith("<") else ""
            yield Completion(f"/{command.name}{wants}", -len(text), display=label, display_meta=command.help)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completion in self.get_completions(document, complete_event):
            yield completion
        if found := _FILE.search(document.current_line_before_cursor):
            for path in await self._files.search(found[1]):
                end = "" if path.endswith("/") else " "
                name = f'"{path}"' if any(char.isspace() for char in path) else path
                yield Completion(f"@{name}{end}", -len(found[0]), display=path)


def matching(commands: Sequence[Named], typed: str) -> list[Named]:
    """Commands whose name or alias has the typed letters in this order, those that begin with them first."""
    loose = re.compile(".*?".join(map(re.escape, typed)))
    ranked: list[tuple[int, str, Named]] = []
    for command in commands:
        words = (command.name, *command.aliases)
        if any(word.startswith(typed) for word in words):
            ranked.append((0 if command.name.startswith(typed) else 1, command.name, command))
        elif any(loose.match(word) for word in words):
            ranked.append((2, command.name, command))
    return [command for _, _, command in sorted(ranked, key=lambda entry: entry[:2])]
