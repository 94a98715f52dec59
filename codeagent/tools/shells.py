"""How a command is given to a shell, and how the shell says where it stood at its end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_BASH = "trap 'pwd -P >&{file} 2>/dev/null' EXIT; _command=$1; shift; eval \"$_command\""
"""By `eval` the messages of bash name the lines of the command as it was written."""


class Shell:
    """One command line for bash, else for sh, which does not say where it stood."""

    def __init__(self, command: str, environ: Mapping[str, str]) -> None:
        self.argv = ["/bin/sh", "-c", command]
        self.inherited: tuple[int, ...] = ()
        self._file: int | None = None
        if bash := shutil.which("bash", path=environ.get("PATH")):
            self.argv = [bash, "-c", command]
            with suppress(OSError):
                handle, name = tempfile.mkstemp(prefix="codeagent-")
                os.unlink(name)  # noqa: PTH108 (its number is all that is needed)
                self._file, self.inherited = handle, (handle,)
                self.argv = [bash, "-c", _BASH.format(file=handle), "bash", command]

    def close(self) -> Path | None:
        """The folder in which the shell ended; None when it did not come to say so."""
        if self._file is None:
            return None
        said = os.pread(self._file, 65_536, 0)
        os.close(self._file)
        self._file, self.inherited = None, ()
        return Path(os.fsdecode(said.removesuffix(b"\n"))) if said else None
