"""What checkpoints cost: a look at 100 000 files, a command beside a bare process, an edit.

python -m benchmarks.checkpoints [files]
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from benchmarks._measure import median
from codeagent.core.tools import Action, Command
from codeagent.safety.checkpoints.saved import SavedWork
from codeagent.safety.checkpoints.store import Store
from codeagent.safety.checkpoints.tree import Tree

RUNS = 7


class _Log:
    turn = 1

    def write(self, fields: Mapping[str, object]) -> None:
        pass

    def read(self) -> Sequence[Mapping[str, Any]]:
        return ()


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        for count in (1_000, files):
            _measure(Path(folder) / str(count), count)


def _measure(folder: Path, count: int) -> None:
    top = folder / "project"
    for number in range(count):
        if number % 100 == 0:
            (top / f"d{number // 5_000}" / f"e{number // 100}").mkdir(parents=True)
        (top / f"d{number // 5_000}" / f"e{number // 100}" / f"f{number}.py").write_text(f"x = {number}\n" * 40)
    print(f"{count:,} files")
    store = Store(folder / "store.db", 500_000_000)
    tree = Tree([str(top)], store, limit=10_000_000, room=250_000_000)
    started = time.perf_counter()
    tree.look()
    tree.keep(600)
    with store:
        tree.flush()
    print(f"  read and kept for the first time  {time.perf_counter() - started:8.2f} s")
    print(f"  look                              {median(lambda: _timed(tree.look), RUNS) * 1000:8.1f} ms")
    saved = SavedWork(store, tree, _Log(), print, session="s", looks=lambda action: False, limit=10_000_000)
    asyncio.run(_calls(saved, top, next(top.rglob("*.py"))))
    store.close()


async def _calls(saved: SavedWork, top: Path, file: Path) -> None:
    command = Action("shell", "run", "true", "Run", Command("true", str(top)))
    edit = Action("edit_file", "edit", str(file), "Edit")

    def run() -> None:
        subprocess.run(["bash", "-c", "true"], cwd=top, check=True)

    print(f"  bare command                      {median(lambda: _timed(run), RUNS) * 1000:8.1f} ms")
    print(f"  command with a checkpoint         {await _median(lambda: saved.around(command), run) * 1000:8.1f} ms")
    numbers = iter(range(1_000))
    write = lambda: file.write_text(f"x = {next(numbers)}\n" * 100)  # noqa: E731
    print(f"  bare edit                         {median(lambda: _timed(write), RUNS) * 1000:8.2f} ms")
    print(f"  edit with a checkpoint            {await _median(lambda: saved.around(edit), write) * 1000:8.2f} ms")


async def _median(around: Callable[[], AbstractAsyncContextManager[None]], do: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS + 1):
        started = time.perf_counter()
        async with around():
            do()
        times.append(time.perf_counter() - started)
    return sorted(times[1:])[RUNS // 2]


def _timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
