"""Laws 1, 2, 3, 5 and 7 for the whole loop, over random lives: what the model says, what breaks, who interrupts."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from codeagent.agent.session import Session
from codeagent.core.entries import Compaction, Entry
from codeagent.core.events import Compacted, Event, StepStarted, TurnEnded
from codeagent.core.messages import SystemMessage, ToolCall, encode
from codeagent.core.ports import Request, StreamItem
from codeagent.history.reading import read_state
from codeagent.llm.providers.scripted import ScriptedProvider, Step, call, say, summary
from tests.agent._world import World
from tests.laws.requests import extends, unpaired
from tests.pictures import png

WINDOW = 3_900
"""Tokens: a few long texts are over the trigger."""
FOREIGN = "says-the-file"
"""Only results of tools hold it, beside words that the person uses too."""
TEXT = st.sampled_from(["x", "你好，世界", "\u2028", "\ud800", "long words " * 120, "很长的文字" * 150])
CALL = st.sampled_from(
    [
        ("read_file", '{"path":"a.txt"}'),
        ("read_file", '{"path":"缺.txt"}'),
        ("read_file", '{"path":'),
        ("read_file", '{"path":"图.png"}'),
        ("no_such_tool", "{}"),
        ("glob", '{"pattern":"*"}'),
        ("write_file", '{"path":"b.txt","content":"好"}'),
        ("edit_file", '{"path":"b.txt","old_string":"好","new_string":"坏"}'),
        ("shell", '{"command":"false"}'),
        ("shell", '{"command":"echo begun; sleep 0.02"}'),
    ]
)
TALK = st.builds(lambda text, cut: Step(text, cut=cut), TEXT | st.just(""), st.booleans())
SAID = TEXT | st.just("Look at @图.png")
WORK = st.builds(
    lambda text, made, cut: Step(text, tuple(ToolCall("", *call) for call in made), cut=cut),
    st.just("") | TEXT,
    st.lists(CALL, min_size=1, max_size=4),
    st.sampled_from([False, False, False, True]),
)
FAULT = st.builds(
    lambda text, error: Step(text, error=error),
    st.just("") | TEXT,
    st.sampled_from(["", "Overloaded", "AuthError", "ContextOverflow", "IncompleteReply"]),
)
REPLY = st.one_of(WORK, WORK, WORK, TALK, FAULT)
SUMMARY = st.builds(
    lambda text, error: Step(text, error=error, purpose="summary"),
    TEXT | st.just(""),
    st.sampled_from(["", "AuthError"]),
)
TURN = st.tuples(
    st.just("turn"),
    st.tuples(
        SAID,
        st.lists(REPLY, min_size=1, max_size=5),
        st.none() | st.integers(0, 40),
        st.lists(st.integers(0, 25), max_size=2),
    ),
)
DEED = st.one_of(
    TURN,
    TURN,
    st.tuples(st.just("compact"), st.tuples(SUMMARY, st.none() | st.integers(0, 2))),
    st.tuples(st.sampled_from(["clear", "resume", "save", "undo", "undo"]), st.none()),
)


async def at_once(seconds: float) -> None:
    """Waits for its turn, and no longer."""
    await asyncio.sleep(0)


@dataclass
class Life:
    """A session, and the model that looks at every request before it answers."""

    world: World
    scripted: ScriptedProvider = field(default_factory=lambda: ScriptedProvider(()))
    window: int = WINDOW
    epoch: int = 0
    """Counts the safe points that come from outside of the loop."""
    last: tuple[object, Request] | None = None

    def __post_init__(self) -> None:
        self._model: dict[str, Any] = {"provider": self, "window": self.window, "retries": 1, "sleep": at_once}
        self.world.file("a.txt", f"long words, x, 你好，世界, {FOREIGN}\n二\n")
        self.world.file("图.png", png(30, 20))
        self.session: Session = self.world.begin(**self._model)

    # ---- the model -----------------------------------------------------------------------------------------------

    async def warm(self) -> None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        assert unpaired(request.messages) == []
        assert not any(FOREIGN.encode() in data for data in request.messages if data.startswith(b'{"role":"system"'))
        if request.purpose == "turn":
            self._check(request)
        async for item in self.scripted.stream(request):
            yield item

    async def aclose(self) -> None:
        return None

    def _check(self, request: Request) -> None:
        """Laws 2, 5 and 7."""
        assert self.session.meter.request(self.session.history) <= self.session.model.budget.hard_limit
        state = read_state(self.session.history.path).state
        on_disk = [encode(SystemMessage(state.prompt.system)), *(entry.wire for entry in state.entries)]
        assert list(request.messages) == on_disk
        assert request.tools == state.prompt.tools
        safe_point = (self.epoch, self.session.history.receipt)
        if self.last is not None and self.last[0] == safe_point:
            assert extends(request.messages, self.last[1].messages)
            assert request.tools == self.last[1].tools
        self.last = safe_point, request

    # ---- what happens --------------------------------------------------------------------------------------------

    async def live(self, deed: str, what: Any) -> None:
        await getattr(self, f"_{deed}")(what)
        history = self.session.history
        assert history.open_calls == ()
        assert unpaired(history.wire()) == []
        if history.path.exists():
            state = read_state(history.path).state
            assert list(state.entries) == list(history.entries)
            assert (state.prompt, state.turn, state.spent) == (history.prompt, history.turn, history.spent)
            assert (state.anchor, state.receipt) == (history.anchor, history.receipt)
            lines = history.path.read_bytes().splitlines()
            assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))

    async def _turn(self, what: tuple[str, list[Step], int | None, list[int]]) -> None:
        text, script, stop, steered = what
        self.world.file("CODEAGENT.md", f"The rule of turn {self.session.history.turn}.")  # for the next safe point
        self.scripted = ScriptedProvider(script, then=say("Done."))
        seen = await self._play(self.session.run_turn(text), stop, steered)
        assert [isinstance(event, TurnEnded) for event in seen] == [False] * (len(seen) - 1) + [True]
        self.session.agent.steering.take()

    async def _compact(self, what: tuple[Step, int | None]) -> None:
        summary, stop = what
        self.scripted = ScriptedProvider([summary])
        await self._play(self.session.compact(), stop, [])

    async def _play(self, turn: AsyncIterator[Event], stop: int | None, steered: list[int]) -> list[Event]:
        seen: list[Event] = []
        async for event in turn:
            if len(seen) == stop:
                self.session.interrupt()
            if len(seen) in steered:
                self.session.steer(f"and {len(seen)}")
            if isinstance(event, Compacted):
                self._gained(seen, event.receipt)
            seen.append(event)
        return seen

    def _gained(self, seen: list[Event], receipt: Compaction) -> None:
        """Law 7: each compaction makes the request smaller; before the next of them the model is asked, but where the
        first left it over the hard limit."""
        assert receipt.tokens_after < receipt.tokens_before
        since = [event for event in seen if isinstance(event, Compacted | StepStarted)]
        if since and isinstance(since[-1], Compacted):
            assert receipt.tokens_before > self.session.model.budget.hard_limit

    async def _undo(self, _: None) -> None:
        """Take a compaction back: the exact messages return, and what came after it stays."""
        receipt = self.session.history.receipt
        if receipt is not None:
            before = self._before(receipt)
            known = {*(entry.id for entry in before), *(item.id for item in receipt.messages)}
            after = [entry for entry in self.session.history.entries if entry.id not in known]
            await self.session.undo_compaction()
            assert list(self.session.history.entries) == [*before, *after]
            self.epoch += 1

    def _before(self, receipt: Compaction) -> list[Entry]:
        """The messages before a compaction, out of the lines before its record."""
        lines = self.session.history.path.read_bytes().splitlines(keepends=True)
        heads = ((json.loads(line), place) for place, line in enumerate(lines))
        place = next(place for head, place in heads if head["type"] == "compaction" and head["id"] == receipt.id)
        older = self.world.file("older.jsonl", b"".join(lines[:place]))
        return list(read_state(older).state.entries)

    async def _clear(self, _: None) -> None:
        self.session.clear()
        self.epoch += 1

    async def _resume(self, _: None) -> None:
        if self.session.history.path.exists():
            self.session = await self.world.resume(self.session, **self._model)
            self.epoch += 1

    async def _save(self, _: None) -> None:
        self.session.memory.save(f"long words {self.session.history.turn} 世界", by="user")


# A life takes too long for its failure to be shrunk; hypothesis prints how to live it again.
AT_LENGTH = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(AT_LENGTH, max_examples=50)
@given(deeds=st.lists(DEED, min_size=4, max_size=9))
def test_the_laws_hold_whatever_happens(words: Path, deeds: list[tuple[str, Any]]) -> None:
    live(words, WINDOW, deeds)


READING = st.tuples(
    st.just("turn"),
    st.tuples(
        st.sampled_from(["long words again", "你好，世界，再看看", "more long words x"]),
        st.lists(st.just(call("read_file", path="a.txt")), max_size=2).map(lambda reads: [*reads, say("long words")]),
        st.none() | st.integers(0, 40),
        st.lists(st.integers(0, 25), max_size=1),
    ),
)
SHORTER = st.tuples(st.just("compact"), st.tuples(st.just(summary("They read.")), st.none()))
CHANGE = st.tuples(st.sampled_from(["clear", "resume", "save", "undo"]), st.none())


@settings(AT_LENGTH, max_examples=20)
@given(deeds=st.lists(READING | READING | SHORTER | CHANGE, min_size=6, max_size=10))
def test_what_a_tool_says_is_never_in_the_system_prompt(words: Path, deeds: list[tuple[str, Any]]) -> None:
    """The window leaves room to bring back what left the context."""
    live(words, 60_000, deeds)


def live(words: Path, window: int, deeds: list[tuple[str, Any]]) -> None:
    async def lived(folder: Path) -> None:
        world = World(folder, cache=words, compaction__keep_turns=1, compaction__retry_after=2, max_turns=8)
        life = Life(world, window=window)
        for deed, what in deeds:
            await life.live(deed, what)
        await world.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(lived(Path(folder)))
