"""How much of each request the next one begins with, byte for byte: what a provider can read from its cache.

    python -m benchmarks.prefix [runs.jsonl] [number of runs] [window]

Recorded runs are replayed through the real loop, cut into four turns, with all that may travel in between: facts that
become relevant, reminders, task memory edited by hand, messages typed during a turn. The bytes are those of the body
that goes over the wire. Columns: `requests`; `compacted`: how often; `whole`: of the requests that followed another
without a compaction between, how many began with the whole of it; `bytes`: share of the bytes of these that stood at
the beginning of the next; `summaries`: share of the bytes of requests for a summary that the request before had at its
beginning; and how often facts, reminders, task memory and typed messages joined. Without a file of recorded runs some
are made.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from benchmarks._measure import table
from benchmarks._replay import Act, Player, Recording, chosen
from codeagent.agent.session import Session
from codeagent.core.events import Event, Replied, Steered
from codeagent.core.messages import AssistantMessage
from codeagent.core.ports import Endpoint, Request
from codeagent.llm.profiles import body, profile_for
from codeagent.text.segment import Segmenter
from tests.agent._world import World

WINDOW = 32_000
TURNS = 4
SUMMARY = "## Goal\nMend the fault that the request describes.\n## Next step\nGo on as before."
TOPICS = ("billing service", "search cluster", "订单数据库", "日志服务")
FACTS = [f"{topic}: port {8_400 + number}" for number, topic in enumerate(TOPICS)]
SNAPSHOT = ".code-agent-cli/memory/snapshot.md"
TATTOO = ".code-agent-cli/memory/tattoo.md"
SIGNS = {"facts": b"elevant long-term memory", "reminders": b"[Reminder: ", "memory": b"AGENT MEMORY BEGIN"}
COLUMNS = ("requests", "compacted", "whole", "bytes", "summaries", *SIGNS, "typed")
_ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "", "scripted")
_PROFILE = profile_for(_ENDPOINT.base_url, _ENDPOINT.model)


@dataclass
class Watch:
    """Compares each request with the one before it."""

    counts: Counter[str] = field(default_factory=Counter)
    session: Session | None = None
    before: bytes = b""
    epoch: object = None

    def look(self, request: Request, act: Act | None) -> None:
        assert self.session is not None
        wire = body(request, _ENDPOINT, _PROFILE).removesuffix(b"]}")
        same = common(self.before, wire)
        if act is None:
            self.counts["asked"] += len(wire) * (request.purpose == "summary")
            self.counts["summed"] += same * (request.purpose == "summary")
            return
        epoch = self.session.history.receipt
        if self.before and epoch == self.epoch:
            self.counts["pairs"] += 1
            self.counts["whole"] += same == len(self.before)
            self.counts["bytes"] += len(self.before)
            self.counts["same"] += same
        self.counts["compacted"] += epoch != self.epoch
        self.counts["requests"] += 1
        for name, sign in SIGNS.items():
            self.counts[name] += request.messages[-1].count(sign)
        self.before, self.epoch = wire, epoch

    def cells(self) -> tuple[str, ...]:
        counts = self.counts
        return (
            str(counts["requests"]),
            str(counts["compacted"]),
            f"{counts['whole']}/{counts['pairs']}",
            percent(counts["same"], counts["bytes"]),
            percent(counts["summed"], counts["asked"]),
            *(str(counts[name]) for name in (*SIGNS, "typed")),
        )


def common(before: bytes, after: bytes) -> int:
    """Bytes that both begin with."""
    if after.startswith(before):
        return len(before)
    unlike = (place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    return next(unlike, len(after))


def percent(part: int, of: int) -> str:
    return f"{part / of:.2%}" if of else "-"


async def replay(played: Recording, window: int, folder: Path, cache: Path) -> Watch:
    watch, world = Watch(), World(folder, cache=cache, task_memory__reload_every=9)
    world.stand_ins = played.tools()
    player = Player(iter(()), lambda: AssistantMessage(SUMMARY), watch.look)
    watch.session = session = world.begin(provider=player, window=window)
    for fact in FACTS:
        session.memory.save(fact)
    part = -(-len(played.acts) // TURNS)
    acts = iter(played.acts)
    for number, topic in enumerate(TOPICS):
        world.file(TATTOO, f"Never touch part {number} of vendor/.\n不要改 vendor/。\n")
        snapshot = world.file(SNAPSHOT, f"## In progress\n- part {number}\n")
        os.utime(snapshot, (snapshot.stat().st_mtime - 900,) * 2)
        player.acts = islice(acts, part)
        said = played.task if not number else f"Go on with part {number}, and mind the {topic}. 继续。"
        async for event in session.run_turn(said):
            watch.counts["typed"] += isinstance(event, Steered)
            type_ahead(session, event, topic)
    await session.aclose()
    return watch


def type_ahead(session: Session, event: Event, topic: str) -> None:
    """Every fifth reply with calls the person types something while the tools run."""
    if isinstance(event, Replied) and event.message.calls and int(event.id[1:]) % 5 == 0:
        session.steer(f"And look at the {topic} too. 也看看。")


async def main(runs: list[Recording], window: int, cache: Path) -> None:
    table("run", *COLUMNS)
    total = Watch()
    for number, played in enumerate(runs, 1):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            watch = await replay(played, window, Path(folder), cache)
        total.counts += watch.counts
        table(str(number), *watch.cells())
    table("all", *total.cells())


if __name__ == "__main__":
    path, most, window = (*sys.argv[1:], *("", "", "")[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as shared:
        Segmenter(Path(shared)).warm()
        asyncio.run(main(chosen(path, most), int(window or WINDOW), Path(shared)))
