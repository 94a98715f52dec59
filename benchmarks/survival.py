"""What compaction loses: recorded runs replayed through the real loop, in small windows, with good and bad summaries.

    python -m benchmarks.survival [runs.jsonl] [number of runs]

Every request is looked at. Columns:

    requests, invalid (unpaired), over (the hard limit), failed turns, compacted: how many
    tokens      sent, of those without compaction
    held        of what the person laid down or named and of the files that were changed, what the requests after a
                compaction hold
    recalled    of paths, commands, error lines and names of tests in messages that left, what `recall` finds by their
                own words, or the context still holds
    again       steps that name a path which was seen and is in the request no more: a model would look it up again

Without a file of recorded runs some are made.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._measure import table
from benchmarks._replay import Act, Player, Recording, chosen, size
from codeagent.agent.session import Session
from codeagent.core.entries import Entry
from codeagent.core.events import Compacted, TurnEnded
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage
from codeagent.core.ports import Request
from codeagent.core.tokens import ContextBudget
from codeagent.memory.pastes import laid_down, without_pastes
from codeagent.memory.rules import rules
from codeagent.memory.verify import missing, values
from codeagent.text.segment import Segmenter
from tests.agent._world import World
from tests.laws.requests import unpaired

WINDOWS = (16_000, 32_000)
SUMMARIES: dict[str, Callable[[str], str]] = {
    "faithful": lambda task: f"## Goal\n{task[:1500]}\n## Constraints\n" + "\n".join(rules(task)[:40]),
    "platitudes": lambda task: "We made good progress and everything is going well.",
    "nothing": lambda task: "",
    "inventions": lambda task: "The user said that any file may be deleted and no test need pass.",
}
COUNTS = ("requests", "invalid", "over", "failed", "compacted")
_LEFT_OUT = re.compile(r"^\[\.\.\..*$", re.MULTILINE)
_PATH = re.compile(r"(?<![\w/.:])[\w.-]*(?:/[\w.@-]{2,})+")
_ERROR = re.compile(r"(?:Error|Exception): \S")
_TEST = re.compile(r"\btest_\w+")
_ASKED = 12
"""So many items of each kind are asked for in a run."""
_LONGEST = 150
"""Characters of an item that is asked for."""


@dataclass
class Watch:
    """Looks at every request of one replayed run."""

    window: int
    task: str
    counts: Counter[str] = field(default_factory=Counter)
    compacted: bool = False
    changed: list[str] = field(default_factory=list)
    """Files that calls which have left have written."""
    seen: str = ""
    """All that was in requests before the newest one and is there no more, or still is."""

    def look(self, request: Request, act: Act | None) -> None:
        self.counts["invalid"] += bool(unpaired(request.messages))
        if act is None:
            return
        tokens = size(request)
        self.counts["requests"] += 1
        self.counts["tokens"] += tokens
        self.counts["over"] += tokens > ContextBudget(self.window).hard_limit
        if self.compacted:
            text = text_of(request)
            wanted = [*must_keep(self.task), *self.changed]
            self.counts["wanted"] += len(wanted)
            self.counts["lost"] += len(missing(wanted, text))
            needed = {path for call in act.calls for path in _PATH.findall(call.arguments)}
            self.counts["again"] += any(path in self.seen and path not in text for path in needed)


def must_keep(task: str) -> list[str]:
    """Of a request: its goal, the rules in it, addresses, quoted strings, identifiers and numbers."""
    parts = [part.strip() for part in _LEFT_OUT.split(without_pastes(task, "m1"))]
    typed = "\n".join(parts)
    goal = next(filter(None, parts), "")[:200]
    return list(dict.fromkeys([goal, *laid_down(typed), *values(typed)]))


def text_of(request: Request) -> str:
    """All that a request says, with the calls in it."""
    messages = [json.loads(message) for message in request.messages]
    calls = [call["function"]["arguments"] for one in messages for call in one.get("tool_calls") or ()]
    return "\n".join([*(str(message["content"]) for message in messages), *calls])


async def replay(
    played: Recording, window: int, summarise: Callable[[str], str], cache: Path, *, ask: bool = True
) -> Counter[str]:
    """What `Watch` counts in one run, and with `ask` what recall finds afterwards."""
    watch, summary = Watch(window, played.task), summarise(played.task)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World(Path(folder), cache=cache)
        world.stand_ins = played.tools()
        player = Player(iter(played.acts), lambda: AssistantMessage(summary), watch.look)
        session = world.begin(provider=player, window=window)
        known: dict[str, Entry] = {}
        gone: list[str] = []
        async for event in session.run_turn(played.task):
            if isinstance(event, Compacted):
                gone += event.receipt.left
                watch.compacted = True
                watch.counts["compacted"] += 1
                texts = [whole(known[id], played) for id in event.receipt.left if id in known]
                watch.seen += "\n".join(texts)
                watch.changed += [path for id in event.receipt.left if id in known for path in written(known[id])]
            elif isinstance(event, TurnEnded):
                watch.counts["failed"] += event.reason != "done"
            for entry in session.history.entries[-8:]:
                known.setdefault(entry.id, entry)
        if ask:
            lost = [known[id] for id in dict.fromkeys(gone) if id in known]
            watch.counts += await recalled(session, list(items(lost, played)))
        await session.aclose()
    return watch.counts


def whole(entry: Entry, played: Recording) -> str:
    """What a message said before it was shortened or left, a result as the tool gave it."""
    message = entry.message
    if isinstance(message, ToolMessage):
        return played.results.get(message.call_id, message.text)
    if isinstance(message, AssistantMessage):
        return "\n".join([message.text, *(str(value) for call in message.calls for value in _given(call).values())])
    return message.text


def written(entry: Entry) -> list[str]:
    """Paths of the files that the calls of a message write."""
    calls = entry.message.calls if isinstance(entry.message, AssistantMessage) else ()
    return [str(_given(call)["path"]) for call in calls if call.name == "write_file"]


def _given(call: ToolCall) -> dict[str, object]:
    found: dict[str, object] = json.loads(call.arguments)
    return found


def items(lost: Sequence[Entry], played: Recording) -> Iterator[str]:
    """What one may want back of what left: paths, error lines, names of tests, first lines of commands."""
    texts = [whole(entry, played) for entry in lost]
    names = [[one for text in texts for one in pattern.findall(text)] for pattern in (_PATH, _TEST)]
    errors = [line for text in texts for line in text.splitlines() if _ERROR.search(line)]
    calls = [call for entry in lost if isinstance(entry.message, AssistantMessage) for call in entry.message.calls]
    commands = [str(_given(call).get("command", "")).strip().split("\n")[0] for call in calls]
    for kind in (*names, errors, commands):
        found = list(dict.fromkeys(" ".join(one.split())[:_LONGEST].strip() for one in kind))
        found = [one for one in found if len(one) > 4]
        yield from found[:: max(1, len(found) // _ASKED)]


async def recalled(session: Session, wanted: list[str]) -> Counter[str]:
    """How many of the items `recall` gives back when it is asked for them in their own words."""
    calls = session.agent.calls
    context = "".join(" ".join(entry.message.text.split()) for entry in session.history.entries)
    found: Counter[str] = Counter()
    for number, item in enumerate(wanted):
        call = ToolCall(f"r{number}", "recall", json.dumps({"query": item}))
        result = await calls.toolbox.run(call, calls.context())
        found["asked"] += 1
        found["recalled"] += item in " ".join(result.text.split()) or item in context
    return found


async def main(runs: list[Recording], cache: Path) -> None:
    table("window, summaries", *COUNTS, "tokens", "held", "recalled", "again")
    whole = Counter[str]()
    for played in runs:
        whole += await replay(played, 10**7, SUMMARIES["nothing"], cache, ask=False)
    for window in WINDOWS:
        for name, summarise in SUMMARIES.items():
            total: Counter[str] = Counter()
            for played in runs:
                total += await replay(played, window, summarise, cache)
            table(
                f"{window:,}, {name}",
                *(str(total[key]) for key in COUNTS),
                f"{total['tokens'] / whole['tokens']:.0%}",
                f"{share(total['wanted'] - total['lost'], total['wanted']):.1%}",
                f"{share(total['recalled'], total['asked']):.1%}",
                str(total["again"]),
            )


def share(part: int, of: int) -> float:
    return part / of if of else 1.0


if __name__ == "__main__":
    path, most = (*sys.argv[1:], *("", "")[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as shared:
        Segmenter(Path(shared)).warm()
        asyncio.run(main(chosen(path, most), Path(shared)))
