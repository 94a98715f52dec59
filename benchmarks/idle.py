"""What an idle prompt costs: CPU, bytes written, growth of memory, beside a bare prompt_toolkit prompt.

python -m benchmarks.idle [seconds]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks._measure import CODEAGENT, PYTHON, Terminal, cpu_seconds, resident_mb, row, world
from benchmarks.start import BARE
from codeagent.llm.providers.scripted import say
from tests.server.endpoint import ScriptedEndpoint


def idle(command: Sequence[str], seconds: float, project, environ) -> tuple[float, int, float, float]:  # type: ignore[no-untyped-def]
    """CPU ms a minute, bytes written, resident MB before and after."""
    terminal = Terminal(command, cwd=project, environ=environ)
    try:
        terminal.wait("❯".encode())
        warm = time.monotonic() + 5
        while time.monotonic() < warm:
            terminal.read(0.1)
        cpu, memory, wrote, end = cpu_seconds(terminal.pid), resident_mb(terminal.pid), 0, time.monotonic() + seconds
        while time.monotonic() < end:
            wrote += terminal.read(1)
        used = (cpu_seconds(terminal.pid) - cpu) * 60_000 / seconds
        return used, wrote, memory, resident_mb(terminal.pid)
    finally:
        terminal.close()


def main(seconds: float) -> None:
    with ScriptedEndpoint([say("Done.")]) as server, world(server.base_url) as (project, environ):
        row(f"idle for {seconds:.0f} s", "CPU ms/minute", "bytes written", "MB before", "MB after")
        for name, command in (("codeagent", [CODEAGENT]), ("bare prompt", [PYTHON, "-c", BARE])):
            cpu, wrote, before, after = idle(command, seconds, project, environ)
            row(name, f"{cpu:.0f}", str(wrote), f"{before:.1f}", f"{after:.1f}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20)
