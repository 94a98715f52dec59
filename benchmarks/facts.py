"""How long facts take to load, to add to and to search: python -m benchmarks.facts

Milliseconds with 1 000, 10 000 and 100 000 facts in each backend, beside `json.load` of the same facts in one file. The
first search of all makes the index, which is kept for the next start.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks._measure import row
from codeagent.core.plugins import discover
from codeagent.memory import backends
from codeagent.memory.bm25 import Bm25Retriever
from codeagent.memory.document import Document, to_bytes
from codeagent.memory.entry import Fact, Source
from codeagent.memory.long_term import LongTermMemory
from codeagent.memory.opening import open_backend
from codeagent.text.segment import Segmenter

SIZES = (1_000, 10_000, 100_000)
THEN = "2026-01-02T03:04:05Z"
WORDS = ("数据库", "端口", "测试", "pytest", "构建", "deploy", "缓存", "服务", "监听", "redis", "必须", "不要", "token")


def main() -> None:
    row("milliseconds", *(f"{size:,} facts" for size in SIZES))
    with tempfile.TemporaryDirectory(prefix="codeagent-bench-") as place:
        segmenter = Segmenter(Path(place), patient=True)
        segmenter.warm()
        figures = [{"json.load": read(Path(place) / f"{size}.json", made(size))} for size in SIZES]
        for kind in sorted(kind.name for kind in discover(backends, "BACKEND").values()):
            for size, found in zip(SIZES, figures, strict=True):
                found.update(measured(kind, Path(place) / f"{kind}-{size}", made(size), segmenter))
    for name in figures[0]:
        row(name, *(f"{found[name]:.0f}" for found in figures))


def made(size: int) -> list[Fact]:
    chance = random.Random(1)
    return [
        Fact(f"{n:08x}", f"{' '.join(chance.sample(WORDS, 6))} #{n}", "fact", "global", None, None, THEN, THEN)
        for n in range(size)
    ]


def read(file: Path, facts: list[Fact]) -> float:
    file.write_bytes(to_bytes(Document(tuple(facts))))
    return milliseconds(lambda: json.loads(file.read_bytes()))


def measured(kind: str, folder: Path, facts: list[Fact], segmenter: Segmenter) -> dict[str, float]:
    """What each thing takes for a process that has just started, but for the last."""
    file = folder / "long_term_memory.json"
    open_backend(kind, file).update(lambda _: facts)
    memory = LongTermMemory(open_backend(kind, file), "bench", _now)
    found = {f"{kind}: load": milliseconds(memory.visible)}
    source = Source("user")
    add = milliseconds(lambda: memory.save("one more", scope="global", type=None, key=None, source=source))
    seen, index = memory.visible(), folder / "index"
    first = milliseconds(lambda: retriever(segmenter, index).search("数据库 端口", seen))
    started = retriever(segmenter, index)
    second = milliseconds(lambda: started.search("数据库 端口", seen))
    later = milliseconds(lambda: started.search("测试 redis", seen))
    names = ("add", "first search of all", "first search of a start", "search")
    return found | {f"{kind}: {name}": took for name, took in zip(names, (add, first, second, later), strict=True)}


def retriever(segmenter: Segmenter, index: Path) -> Bm25Retriever:
    return Bm25Retriever(segmenter.words, _now, index)


def milliseconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    main()
