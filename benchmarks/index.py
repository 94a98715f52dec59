"""How fast code is indexed and found: python -m benchmarks.index [folder]

Without a folder it is a copy of the interpreter's own library, without what was installed into it. Files and megabytes
a second of the first run, the size of the database beside the text that is in it, a run with nothing changed,
questions, each a name that the code defines or a few of its words, beside ripgrep looking for the name, and the memory
of the whole process. Figures count where nothing else wants the cores.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks._measure import resident_mb, row
from codeagent.codebase.index import ProjectCode
from codeagent.codebase.store import CodeStore
from codeagent.core.paths import Home
from codeagent.text.segment import Segmenter
from codeagent.toolkit import make_code
from codeagent.tools.walking import ripgrep

QUESTIONS = 200
TINY = 20_000
_NOT_COPIED = ("site-packages", "dist-packages", "__pycache__", "config-*")


async def took(work: Awaitable[object]) -> float:
    """Seconds of the clock."""
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


def spread(seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=20)
    return f"p50 {1000 * statistics.median(seconds):.0f} ms, p95 {1000 * cuts[-1]:.0f} ms"


def names(path: Path) -> list[str]:
    """Names that are defined once, some of them."""
    with CodeStore(path).open() as db:
        found = [name for (name,) in db.execute("SELECT symbol FROM chunks WHERE symbol != '' GROUP BY symbol")]
    return random.Random(1).sample(found, min(QUESTIONS, len(found)))


def searched(rg: str, name: str, top: Path) -> float:
    started = time.perf_counter()
    subprocess.run([rg, "-n", "-F", name, str(top)], stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def held(path: Path) -> tuple[int, float]:
    """(files whose text is in the index, their megabytes)."""
    with CodeStore(path).open() as db:
        sizes = [size for (size,) in db.execute("SELECT size FROM files WHERE left_out = ''")]
    return len(sizes), sum(sizes) / 1e6


async def measure(make: Callable[[], ProjectCode], path: Path, top: Path) -> None:
    before, cpu = resident_mb(os.getpid()), sum(os.times()[:2])
    code = make()
    first = await took(code.build())
    cpu = sum(os.times()[:2]) - cpu
    files, text = held(path)
    row("files that are text, MB", f"{files:,}", f"{text:.1f} MB")
    row("first run", f"{first:.1f} s", f"{files / first:,.0f} files/s", f"{text / first:.1f} MB/s", f"{cpu:.1f} s cpu")
    size = (await code.status()).size / 1e6
    row("database, its size beside the text", f"{size:.1f} MB", f"{size / text:.2f}")
    nothing = statistics.median([await took(make().build()) for _ in range(5)])
    total = (await code.status()).files
    row("nothing changed", f"{1000 * nothing:.0f} ms", f"{total:,} files")
    asked = names(path)
    row("a name", spread([await took(code.search(name)) for name in asked]))
    words = [" ".join(random.Random(name).sample(asked, 4)).replace(".", " ").replace("_", " ") for name in asked]
    row("some words", spread([await took(code.search(four)) for four in words]))
    if rg := ripgrep(os.environ):
        row("ripgrep, the name", spread([searched(rg, name.rpartition(".")[2], top) for name in asked]))
    row("the symbol map of 1 000 tokens", f"{1000 * await took(code.map(1_000)):.0f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    row("resident: before, now, at most", *(f"{mb:.0f} MB" for mb in (before, resident_mb(os.getpid()), peak)))
    await code.aclose()


def tiny(top: Path) -> Path:
    """A folder of many files in which there is hardly anything."""
    for number in range(TINY):
        file = top / f"{number // 100}" / f"f{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def f{number}(): pass\n")
        os.utime(file, (1_600_000_000, 1_600_000_000))  # nothing is changed within such a time stamp any more
    return top


async def again(make: Callable[[], ProjectCode]) -> None:
    first = await took(make().build())
    seconds = statistics.median([await took(make().build()) for _ in range(5)])
    row(f"{TINY:,} tiny files: first run, nothing changed", f"{first:.1f} s", f"{1000 * seconds:.0f} ms")


def main() -> None:
    scratch = Path(tempfile.mkdtemp(prefix="codeagent-bench-"))
    top = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else scratch / "library"
    try:
        if len(sys.argv) == 1:
            shutil.copytree(sysconfig.get_path("stdlib"), top, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        if not top.is_dir():
            sys.exit(f"There is no folder {top}.")
        row("processes that want a core, of the last minute; cores", f"{os.getloadavg()[0]:.1f}", f"{os.cpu_count()}")
        home = Home(scratch / "home")
        words = Segmenter(home.cache, patient=True).words
        asyncio.run(measure(lambda: make_code(home, (top,), dict(os.environ), words, len), home.code, top))
        many = tiny(scratch / "tiny")
        asyncio.run(again(lambda: make_code(home, (many,), dict(os.environ), words, len)))
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
