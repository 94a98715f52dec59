"""What ends the commands of a session whose process was itself killed, and could not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress

_WAIT = """read -r _ && exit
for signal in TERM KILL KILL; do
    for file in $(grep -lsF -e "$1" /proc/[0-9]*/environ); do
        pid=${file#/proc/}
        kill -s "$signal" "${pid%/environ}" 2>/dev/null
    done
    sleep 0.5
done"""
"""A line says that all is well; an end without one that nobody is there any more."""


class DeathWatch:
    """A shell that sleeps at the end of a pipe until our process is gone, and then ends all that carries the mark.

    Without /proc (macOS) it finds nobody to end.
    """

    def __init__(self, mark: str) -> None:
        """`mark` stands in the environment of all that is to end."""
        self._mark = mark
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, environ: Mapping[str, str]) -> None:
        """Start it, where it has not begun; a machine on which it does not run is done without."""
        if self._process is not None:
            return
        with suppress(OSError):
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _WAIT, "codeagent-watch", self._mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": environ.get("PATH", os.defpath)},
                start_new_session=True,
            )

    def end(self) -> None:
        """Let it go: from now on nothing is ended. Blocks for a millisecond."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.communicate(b"\n")
