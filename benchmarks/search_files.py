"""How fast files are found and searched: python -m benchmarks.search_files [folder]

Without a folder a tree of 100 000 small files is made. Milliseconds of the tools glob and grep, from call to answer,
beside plain ripgrep doing the same work and beside our own search, which serves where there is no ripgrep. Processor
time stands behind the wall time: on a busy machine it is the one to compare.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks._measure import row
from codeagent.core.tools import Tool, ToolContext
from codeagent.history.archive import SessionArchive
from codeagent.tools.builtin import glob, grep
from codeagent.tools.own_search import search_python
from codeagent.tools.queries import Query
from codeagent.tools.walking import list_files, ripgrep

FILES = 100_000
RUNS = 3


def make_tree(top: Path, files: int = FILES) -> None:
    """Folders of 50 files of 20 lines; the number of each file stands in its last line."""
    words = random.Random(1)
    some = ["".join(words.choices("abcdefghijklmnopqrstuvwxyz", k=words.randint(3, 9))) for _ in range(3_000)]
    for number in range(files):
        folder = top / f"package{number // 1_000:03}" / f"module{number // 50 % 20:02}"
        if number % 50 == 0:
            folder.mkdir(parents=True)
        lines = [" ".join(words.choices(some, k=8)) for _ in range(20)]
        ending = "py" if number % 2 else "ts"
        (folder / f"file{number % 50:02}.{ending}").write_text("\n".join([*lines, f"needle_{number}\n"]))


def make_context(top: Path, archive: Path) -> ToolContext:
    """A world of files alone: what else tools are handed, these two never touch."""
    nothing: dict[str, Any] = {field.name: None for field in fields(ToolContext) if field.default is MISSING}
    known = {"cwd": top, "roots": (top,), "environ": dict(os.environ), "progress": print, "call_id": "c"}
    return ToolContext(**{**nothing, **known, "archive": SessionArchive(archive / "session.jsonl")})


@dataclass(frozen=True)
class Took:
    """Medians in milliseconds."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:6,.0f} ({self.cpu:,.0f})"


async def took(work: Callable[[], Awaitable[object]], runs: int = RUNS) -> Took:
    rounds = []
    for _ in range(runs + 1):
        wall, cpu = time.perf_counter(), _cpu()
        await work()
        rounds.append((time.perf_counter() - wall, _cpu() - cpu))
    wall, cpu = (1_000 * statistics.median(column) for column in zip(*rounds[1:], strict=True))
    return Took(wall, cpu)


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


async def measure(top: Path, archive: Path) -> None:
    ctx = make_context(top, archive)
    rg = ripgrep(ctx.environ) or sys.exit("There is no ripgrep.")

    async def plain(*arguments: str) -> object:
        command = [rg, "--no-config", *arguments, str(top)]
        return await asyncio.to_thread(subprocess.run, command, stdout=subprocess.DEVNULL, check=False)

    def tool(one: Tool, **arguments: Any) -> Callable[[], Awaitable[object]]:
        return lambda: one.run(one.params(**arguments), ctx)

    def own(pattern: str) -> Callable[[], Awaitable[object]]:
        return lambda: asyncio.to_thread(search_python, Query(pattern, top), ctx)

    row("milliseconds, wall (processor)", "ours", "ripgrep alone", "without ripgrep")
    everything = await took(lambda: plain("--files"))
    walked = await took(lambda: list_files(top, ctx, None))
    for name, pattern in (("half of the files", "**/*.py"), ("one file in 50", "**/file07.py")):
        row(f"glob {name}", str(await took(tool(glob.TOOL, pattern=pattern))), str(everything), str(walked))
    for name, pattern in (("one match", "needle_77777"), ("a match in each file", "needle"), ("nothing", "nowhere_at"),
                          ("a class", r"needle_7[0-9]{4}$"), ("Chinese, nothing", "记忆")):  # fmt: skip
        ours, alone = await took(tool(grep.TOOL, pattern=pattern)), await took(lambda p=pattern: plain("-l", p))
        row(f"grep {name}", str(ours), str(alone), str(await took(own(pattern), 1)))
    shapes = {"content": "--line-number", "files": "-l", "count": "-c"}
    for mode, shape in shapes.items():
        for name, more in (("3 of each file", {"limit": 3}), ("from 50,000 on", {"offset": 50_000})):
            ours = await took(tool(grep.TOOL, pattern="needle", mode=mode, **more), 1)
            row(f"grep {mode}, {name}", str(ours), str(await took(lambda s=shape: plain(s, "needle"), 1)), "")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(scratch, "tree")
        if not top.exists():
            if len(sys.argv) > 1:
                sys.exit(f"There is no folder {top}.")
            make_tree(top)
        asyncio.run(measure(top, Path(scratch)))


if __name__ == "__main__":
    main()
