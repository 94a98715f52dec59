"""What survives when the conversation is lost in the middle of a task over five files.

    python -m benchmarks.amnesia

A model double that knows nothing but its request writes two files of five; then the whole conversation is thrown away,
or replaced by a summary of platitudes; then it is told to go on. Beside it the same without task memory. `kept` counts
the constraint, the goal, what is in progress and the key decision in the next request; `right` the files that are as
agreed at the end; `again` those that were written a second time.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from benchmarks._measure import row
from tests.agent._amnesia import CONSTRAINT, DECISION, FILES, GO_ON, RIGHT, TASK, Forgetful, written
from tests.agent._world import World, events

TOLD = (CONSTRAINT, "Write the five files.", "### In progress\n- c.py", DECISION)


async def run(folder: Path, how: str, mode: str, *, board: bool) -> tuple[int, int, int]:
    """(kept of 4, right of 5, written again)"""
    world, model = World(folder, compaction__mode=mode, compaction__keep_turns=1), Forgetful(keeps_board=board)
    if board:
        world.file(".code-agent-cli/memory/tattoo.md", f"{CONSTRAINT}\n")
    session = world.begin(provider=model)
    await events(session.run_turn(f"{TASK} {CONSTRAINT}"))
    await events(session.run_turn("wait"))
    before = len(model.requests)
    if how == "cleared":
        session.clear()
    else:
        await events(session.compact())
    await events(session.run_turn(GO_ON))
    first = "\n".join(str(json.loads(message)["content"]) for message in model.requests[before].messages)
    right = sum((world.top / name).is_file() and (world.top / name).read_text("utf-8") == RIGHT for name in FILES)
    order = written(model.requests)
    await world.close()
    return sum(text in first for text in TOLD), right, len(order) - len(set(order))


async def main() -> None:
    row("", "kept of 4", "right of 5", "again")
    for how, mode in (("cleared", "ladder"), ("platitudes", "classic"), ("platitudes", "ladder")):
        for board in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                figures = await run(Path(folder), how, mode, board=board)
            name = f"{how}, {mode}, {'with' if board else 'without'} task memory"
            row(name, *map(str, figures))


if __name__ == "__main__":
    asyncio.run(main())
