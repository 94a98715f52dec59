"""What compaction loses: recorded runs replayed through the real loop, in small windows, with good and bad summaries.

    python -m benchmarks.survival [runs.jsonl] [number of runs]

Every request is looked at: paired, within the hard limit, holding what the person laid down. Without a file of
recorded runs some are made.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._measure import row
from benchmarks._runs import Run, made, recorded
from codeagent.core.entries import Entry
from codeagent.core.events import Compacted, TurnEnded
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.core.tokens import ContextBudget, estimate_classes
from codeagent.memory.verify import missing, rules, without_pastes
from tests.agent._world import World
from tests.laws.requests import unpaired

WINDOWS = (16_000, 32_000)
SUMMARIES: dict[str, Callable[[str], str]] = {
    "faithful": lambda task: f"## Goal\n{task[:1500]}\n## Constraints\n" + "\n".join(rules(task)[:40]),
    "platitudes": lambda task: "We made good progress and everything is going well.",
    "nothing": lambda task: "",
    "inventions": lambda task: "The user said that any file may be deleted and no test need pass.",
}


@dataclass
class Replay:
    """Plays the assistant of a recorded run; each call reads the file that holds the recorded result."""

    window: int
    task: str
    steps: list[Entry]
    summary: str
    counts: Counter[str] = field(default_factory=Counter)
    last: int = 0
    compacted: bool = False

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        if request.purpose != "turn":
            yield Reply(AssistantMessage(self.summary))
            return
        self._look(request)
        step = self.steps.pop(0) if self.steps else None
        if step is None:
            yield Reply(AssistantMessage("Done."))
            return
        self.last += 1
        call = ToolCall(f"call_{self.last}", "read_file", json.dumps({"path": f"r{self.last}.txt"}))
        yield Reply(AssistantMessage(step.message.text, (call,)))

    def _look(self, request: Request) -> None:
        system = json.loads(request.messages[0])["content"].encode()
        size = sum(map(estimate_classes, (system, *request.messages[1:], request.tools)))
        self.counts["requests"] += 1
        self.counts["tokens"] += size
        self.counts["invalid"] += bool(unpaired(request.messages))
        self.counts["over"] += size > ContextBudget(self.window).hard_limit
        if self.compacted:
            text = "\n".join(str(json.loads(message)["content"]) for message in request.messages)
            wanted = rules(without_pastes(self.task, "m1"))
            self.counts["wanted"] += len(wanted)
            self.counts["lost"] += len(missing(wanted, text))

    async def aclose(self) -> None:
        return None


async def replay(entries: list[Entry], window: int, summarise: Callable[[str], str]) -> Counter[str]:
    task = next(entry.message.text for entry in entries if entry.origin == "user")
    steps = [entry for entry in entries if entry.origin == "model"]
    results = [entry.message.text for entry in entries if entry.origin == "tool"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World(Path(folder))
        for number, text in enumerate(results, 1):
            world.file(f"r{number}.txt", text or "(empty)")
        model = Replay(window, task, steps[: len(results)], summarise(task))
        session = world.begin(provider=model, window=window)
        async for event in session.run_turn(task):
            if isinstance(event, Compacted):
                model.compacted = True
                model.counts["compactions"] += 1
            if isinstance(event, TurnEnded):
                model.counts["failed"] += event.reason != "done"
        await session.aclose()
        return model.counts


async def main(runs: list[Run], most: int) -> None:
    row("window, summaries", "requests", "invalid", "over", "failed", "compactions", "held", "tokens")
    for window in WINDOWS:
        for name, summarise in SUMMARIES.items():
            total: Counter[str] = Counter()
            for run in runs[:most]:
                total += await replay(run.all, window, summarise)
            held = 1 - total["lost"] / total["wanted"] if total["wanted"] else 1.0
            counts = (str(total[key]) for key in ("requests", "invalid", "over", "failed", "compactions"))
            row(f"{window:,}, {name}", *counts, f"{held:.1%}", f"{total['tokens']:,}")


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else "../shared/data/runs.jsonl"
    found = recorded(Path(given), estimate_classes) if Path(given).is_file() else made(estimate_classes)
    asyncio.run(main(found, int(sys.argv[2]) if len(sys.argv) > 2 else len(found)))
