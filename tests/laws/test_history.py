"""Laws 1 to 5 as far as the history alone holds them, over random lives of a session."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.entries import Compaction, Entry, Prompt, Replacement, Usage
from codeagent.core.errors import CodeAgentError
from codeagent.core.messages import AssistantMessage, Message, Reasoning, ToolCall, ToolMessage, UserMessage
from codeagent.history.history import History
from codeagent.history.reading import read_state
from codeagent.history.sessions import open_session
from tests.history.support import PROMPT, begin, masks, say, session_path
from tests.laws.requests import extends, unpaired

TEXT = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(
    ["你好，世界", "\u2028", "\ud800", '{"a":1}\n']
)
NUMBER = st.integers(0, 10)
STEP = st.one_of(
    st.tuples(st.just("turn"), TEXT),
    st.tuples(st.just("work"), st.lists(TEXT, max_size=3)),
    st.tuples(st.sampled_from(["summarise", "mask", "rewind", "recall"]), NUMBER),
    st.tuples(st.sampled_from(["unfold", "clear", "report", "reopen", "interrupt", "prompt"]), st.none()),
    st.tuples(st.just("rename"), TEXT),
)
LIFE = st.lists(STEP, max_size=25)
QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass
class Life:
    """A session that lives through steps, and beside it the plainest account of what its list must be."""

    history: History
    deeds: list[tuple[str, Any]] = field(default_factory=list)
    """What has happened and is still in force: said (entry), folded (id, new entries, gone, at), cut (id)."""
    snapshots: dict[int, list[Entry]] = field(default_factory=dict)
    """Size of the file -> the list at that moment."""

    def expected(self) -> list[Entry]:
        entries: list[Entry] = []
        for deed, what in self.deeds:
            entries = DEEDS[deed](entries, what)
        return entries

    async def live(self, step: str, what: object) -> None:
        request = self.history.wire()
        safe = await getattr(self, f"_{step}")(what)
        if not safe:
            assert extends(self.history.wire(), request)
        self.check()

    def said(self, entry: Entry) -> None:
        self.deeds.append(("said", entry))
        self.snapshots[self.history.path.stat().st_size] = list(self.history.entries)

    def check(self) -> None:
        history = self.history
        assert history.entries == self.expected()
        assert history.tokens == sum(entry.tokens for entry in history.entries)
        assert unpaired(history.wire()) == []
        if history.path.exists():
            state = read_state(history.path).state
            assert list(state.entries) == history.entries
            assert (state.prompt, state.turn, state.name) == (history.prompt, history.turn, history.name)
            assert (state.anchor, state.spent, state.receipt) == (history.anchor, history.spent, history.receipt)
            self.snapshots[history.path.stat().st_size] = list(history.entries)

    # ---- steps: each says whether it is a safe point -------------------------------------------------------------

    async def _turn(self, text: str) -> bool:
        self.said(say(self.history, text))
        return False

    async def _work(self, outputs: list[str]) -> bool:
        calls = tuple(ToolCall(f"c{number}", "f") for number in range(len(outputs)))
        self.said(self.history.append(AssistantMessage("so", calls, Reasoning("hm")), origin="model"))
        for call, output in reversed(list(zip(calls, outputs, strict=True))):
            self.said(self.history.append(ToolMessage(call.id, call.name, output), origin="tool"))
        return False

    async def _interrupt(self, _: None) -> bool:
        self.said(self.history.append(AssistantMessage("", (ToolCall("x", "f"), ToolCall("y", "g"))), origin="model"))
        for entry in self.history.repair_pairs():
            self.deeds.append(("said", entry))
        return False

    async def _summarise(self, at: int) -> bool:
        borders = [n for n, entry in enumerate(self.history.entries) if not isinstance(entry.message, ToolMessage)]
        border = (borders or [0])[at % max(1, len(borders))]
        gone = tuple(entry.id for entry in self.history.entries[:border])
        new: tuple[Message, ...] = (UserMessage("summary"), AssistantMessage("ack"))
        messages = (Replacement(new[0], gone), Replacement(new[1]))
        receipt = self.history.fold(Compaction("", 2, "", messages, 9, 1, gone, (), 0.5, "d", "focus"))
        self.deeds.append(("summarised", (receipt.id, border, list(self.history.entries[:2]))))
        return True

    async def _mask(self, at: int) -> bool:
        results = [entry for entry in self.history.entries if isinstance(entry.message, ToolMessage)][:at]
        receipt = self.history.fold(masks(results))
        ids = {entry.id for entry in results}
        new = {entry.id: entry for entry in self.history.entries if entry.id in ids}
        self.deeds.append(("masked", (receipt.id, new)))
        return True

    async def _unfold(self, _: None) -> bool:
        receipt = self.history.receipt
        if receipt is None:
            with pytest.raises(CodeAgentError):
                await self.history.undo("c1")
            return True
        await self.history.undo(receipt.id)
        place = max(n for n, (deed, what) in enumerate(self.deeds) if deed in FOLDS and what[0] == receipt.id)
        del self.deeds[place]
        return True

    async def _rewind(self, at: int) -> bool:
        """To a user message that is in the list."""
        ids = [entry.id for entry in self.history.entries if isinstance(entry.message, UserMessage)]
        if ids:
            await self.history.undo(ids[at % len(ids)])
            self.deeds.append(("cut", ids[at % len(ids)]))
        return True

    async def _recall(self, at: int) -> bool:
        """Rewind to a user message that has left the list."""
        here = {entry.id for entry in self.history.entries}
        gone = [
            (place, what.id)
            for place, (deed, what) in enumerate(self.deeds)
            if isinstance(what, Entry) and isinstance(what.message, UserMessage) and what.id not in here
        ]
        if gone:
            place, id = gone[at % len(gone)]
            await self.history.undo(id)
            del self.deeds[place:]
        return True

    async def _clear(self, _: None) -> bool:
        self.history.set_prompt(replace(PROMPT, digest="d"), "clear")
        self.deeds.append(("cleared", None))
        return True

    async def _prompt(self, _: None) -> bool:
        self.history.set_prompt(Prompt(f"prompt {self.history.turn}"), "tools")
        return True

    async def _report(self, _: None) -> bool:
        if self.history.entries:
            self.history.report(Usage(100, 10, 5), self.history.entries[-1].id, 90, 0.25)
        return False

    async def _rename(self, name: str) -> bool:
        self.history.rename(name)
        return False

    async def _reopen(self, _: None) -> bool:
        if self.history.path.exists():
            self.history.close()
            self.history = await open_session(self.history.path)
            assert self.history.notices == ()
        return False


FOLDS = ("summarised", "masked")
DEEDS: dict[str, Callable[[list[Entry], Any], list[Entry]]] = {
    "said": lambda entries, entry: [*entries, entry],
    "summarised": lambda entries, what: [*what[2], *entries[what[1] :]],
    "masked": lambda entries, what: [what[1].get(entry.id, entry) for entry in entries],
    "cut": lambda entries, id: entries[: next((n for n, e in enumerate(entries) if e.id == id), len(entries))],
    "cleared": lambda entries, _: [],
}


@QUICK
@given(LIFE)
def test_memory_and_disk_tell_the_same_at_every_moment(life: list[tuple[str, object]]) -> None:
    """Laws 1, 2 and 3."""

    async def lived(folder: Path) -> None:
        told = Life(begin(folder))
        for step, what in life:
            await told.live(step, what)
        told.history.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(lived(Path(folder)))


@QUICK
@given(LIFE, st.data())
def test_a_file_torn_at_any_byte_gives_what_was_whole(life: list[tuple[str, object]], data: st.DataObject) -> None:
    """Law 5, and law 1 after it."""

    async def lived(folder: Path) -> None:
        told = Life(begin(folder))
        for step, what in [("turn", "first"), *life]:
            await told.live(step, what)
        told.history.close()
        whole = told.history.path.read_bytes()
        cut = data.draw(st.integers(min(told.snapshots), len(whole)))
        torn = session_path(folder, "torn")
        torn.write_bytes(whole[:cut])
        history = await open_session(torn)
        known = told.snapshots.get(whole[:cut].rfind(b"\n") + 1)
        if known is not None:  # None: between two results of one interruption.
            assert history.entries[: len(known)] == known
            assert {entry.message.text for entry in history.entries[len(known) :]} <= {"(interrupted)"}
        assert unpaired(history.wire()) == []
        again = read_state(torn).state
        assert list(again.entries) == history.entries
        history.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(lived(Path(folder)))


WRITER = """
import asyncio, sys
from pathlib import Path
from codeagent.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from codeagent.history.sessions import open_session, new_session
from codeagent.history.records import SessionInfo

async def main(path):
    if path.exists():
        history = await open_session(path)
    else:
        history = new_session(path, SessionInfo("s1", "p", "/", "m", "0"))
    print("open", flush=True)
    number = 0
    while True:
        number += 1
        call = f"c{number}"
        for message, origin in (
            (UserMessage("x" * (number % 5000)), "user"),
            (AssistantMessage("", (ToolCall(call, "f"),)), "model"),
            (ToolMessage(call, "f", "y" * (number * 37 % 9000)), "tool"),
        ):
            print(history.append(message, origin=origin, new_turn=origin == "user").id, flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


def killed(path: Path, after: int) -> Iterator[str]:
    """Ids that a writer acknowledged before it was killed, after about so many lines."""
    child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for number, line in enumerate(child.stdout):
        if line.endswith("\n") and line != "open\n":
            yield line.strip()
        if number == after:
            child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


async def test_nothing_acknowledged_is_missing_after_kill_9(tmp_path: Path) -> None:
    """Law 5: one session, killed and opened again and again."""
    path = tmp_path / "s1.jsonl"
    chance = random.Random(5)
    acknowledged: list[str] = []
    for _ in range(6):
        acknowledged += killed(path, chance.randrange(1, 300))
        history = await open_session(path)
        ids = [entry.id for entry in history.entries]
        assert [id for id in acknowledged if id not in set(ids)] == []
        assert ids == [f"m{number}" for number in range(1, len(ids) + 1)]
        assert unpaired(history.wire()) == []
        history.close()
    assert len(acknowledged) > 6
    assert [left.name for left in tmp_path.iterdir()] == ["s1.jsonl"]
