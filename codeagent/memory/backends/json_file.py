"""Facts in one readable JSON file, put in place whole: written aside, flushed to the disk, renamed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from codeagent.memory.backends._file import FileBackend, keep, put
from codeagent.memory.document import Document, from_bytes, to_bytes
from codeagent.memory.entry import BackendKind, Fact


class JsonFile(FileBackend[Document]):
    """The default: a person can read the file, and edit it."""

    def nothing(self) -> Document:
        return Document()

    def facts(self, held: Document) -> tuple[Fact, ...]:
        return held.facts

    def read(self, path: Path) -> Document:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return Document()
        return from_bytes(data, path)

    def write(self, held: Document, facts: tuple[Fact, ...]) -> Document:
        document = replace(held, facts=facts)
        data = to_bytes(document)
        if self.path.exists():
            keep(self.backup, self.path)
        put(self.path, data)
        return document

    def state(self) -> object:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


BACKEND = BackendKind("json_file", JsonFile)
