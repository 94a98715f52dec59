"""`maybe_compact_history`: when it compacts, when it lets go, and what the next request carries."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest

from codeagent.agent.compaction import HistoryGuard
from codeagent.agent.session import Session
from codeagent.core.entries import Compaction, Need, Replacement
from codeagent.core.errors import ContextOverflow, ModelError
from codeagent.core.events import Compacted, Compacting, Notice, Replied, StepStarted, TurnEnded, TurnStarted
from codeagent.core.messages import AssistantMessage, UserMessage
from codeagent.core.ports import HistoryView, Recalled
from codeagent.history.reading import read_state
from codeagent.llm.providers.scripted import Step, call, say, summary
from codeagent.memory.ledger import MARK, SUMMARY
from tests.agent._world import World, check_valid, ended, events, happens, messages, said
from tests.agent.conftest import Make
from tests.laws.requests import extends, unpaired

WORDS = "Some words here, "
"""A text that counts as many tokens by estimate as the scripted model reports."""
WINDOW = 32_000
"""Tokens: trigger 20 000, hard limit 24 000."""
PROMPT = 2_000
"""Tokens that system prompt and tools take at least; before the first turn they are not counted."""
BROKEN = Step(error="AuthError", purpose="summary")


async def over(world: World, *script: Step, turns: int = 1) -> Session:
    """A session whose next request is over the trigger."""
    session = world.begin([say("Yes.")] * (turns - 1), window=WINDOW)
    for number in range(turns - 1):
        assert ended(await events(session.run_turn(f"turn {number + 1}"))).reason == "done"
    status = session.status()
    missing = status.trigger - max(status.context_tokens, PROMPT)
    world.play(say(WORDS * ((missing + 120) * 4 // len(WORDS))), *script)
    assert ended(await events(session.run_turn(f"turn {turns}"))).reason == "done"
    assert status.trigger < session.status().context_tokens < session.model.budget.hard_limit
    return session


async def test_it_compacts_before_the_call_that_would_be_too_long(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = await over(world, summary("Short."), say("Fits."), turns=2)
    first = next(entry for entry in session.history.entries if entry.origin == "user")
    seen = await happens(session.run_turn("next"))
    kinds = [TurnStarted, Compacting, Compacted, StepStarted, Replied, TurnEnded]
    assert [type(event) for event in seen] == kinds
    summed, understood, *rest = messages(session)
    assert isinstance(summed, UserMessage) and isinstance(understood, AssistantMessage)
    assert summed.text.endswith("\nShort.")
    assert rest == [UserMessage("next"), AssistantMessage("Fits.")]
    (receipt,) = [event.receipt for event in seen if isinstance(event, Compacted)]
    state = read_state(session.history.path).state
    assert state.receipt == receipt == session.history.receipt
    assert (receipt.id, first.id in receipt.left, receipt.tokens_after < receipt.tokens_before) == ("c1", True, True)
    check_valid(session)


async def test_the_request_for_the_summary_extends_the_one_before(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = await over(world, summary("Short."), say("Fits."))
    await events(session.run_turn("next"))
    first, asked, after = world.requests
    assert asked.purpose == "summary"
    assert extends(asked.messages, first.messages)
    assert asked.tools == first.tools == after.tools
    assert unpaired(asked.messages) == unpaired(after.messages) == []


async def test_nothing_to_compact_is_said_once_a_turn(world: World) -> None:
    """The system prompt alone is over the trigger: each step would find the same."""
    world.options = replace(world.options, append_system_prompt=WORDS * 4_400)
    session = world.begin([call("glob", pattern="*")] * 3 + [say("Done."), say("Again.")], window=WINDOW)
    seen = await happens(session.run_turn("next"))
    status = session.status()
    assert status.trigger < status.context_tokens < session.model.budget.hard_limit
    notices = [place for place, event in enumerate(seen) if isinstance(event, Notice)]
    assert (notices, sum(isinstance(event, Compacting) for event in seen)) == ([2], 1)
    assert ended(seen) == TurnEnded("done", 4, 0.0)
    assert all(request.purpose == "turn" for request in world.requests)
    await events(session.run_turn("more"))
    assert said(session)[-1] == "Again."


async def test_a_prompt_that_alone_is_too_large_ends_the_turn_with_its_sizes(world: World) -> None:
    world.options = replace(world.options, append_system_prompt=WORDS * 8_000)
    session = world.begin(window=WINDOW)
    for _ in range(2):
        end = ended(await events(session.run_turn("hi")))
        assert (end.reason, isinstance(end.error, ContextOverflow)) == ("failed", True)
        assert end.error is not None and end.error.arguments["limit"] == 24_000
    assert world.requests == []


async def test_a_summary_that_fails_changes_nothing_and_the_turn_goes_on(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = await over(world, BROKEN, say("Still here."))
    before = messages(session)
    seen = await happens(session.run_turn("next"))
    kinds = [TurnStarted, Compacting, Notice, StepStarted, Replied, TurnEnded]
    assert [type(event) for event in seen] == kinds
    assert messages(session) == [*before, UserMessage("next"), AssistantMessage("Still here.")]
    check_valid(session)


async def attempts(world: World, session: Session, steps: int) -> list[bool]:
    """Whether a compaction was tried before each of the steps of a turn."""
    tried: list[bool] = []
    pending = False
    async for event in session.run_turn("work"):
        if isinstance(event, Compacting):
            pending = True
        if isinstance(event, StepStarted):
            tried.append(pending)
            pending = False
    assert len(tried) == steps
    return tried


@pytest.mark.parametrize(
    ("retry_after", "tried"),
    [
        (10, [True] * 3 + [False] * 9 + [True] + [False] * 9 + [True] + [False] * 2),
        (2, [True] * 3 + [False, True] * 11),
        (0, [True] * 25),
    ],
)
async def test_after_three_failures_it_tries_seldom(make: Make, retry_after: int, tried: list[bool]) -> None:
    world = make(compaction__keep_turns=1, compaction__retry_after=retry_after)
    work = [call("shell_job", action="list")] * 24
    session = await over(world, *[BROKEN] * sum(tried), *work, say("Done."), turns=2)
    assert await attempts(world, session, 25) == tried


async def test_a_success_ends_the_rest(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    session = await over(world, *[BROKEN] * 3, summary("Short."), *[call("glob", pattern="*")] * 3, say("Done."))
    assert await attempts(world, session, 4) == [True, True, True, False]
    seen = await happens(session.compact())
    assert [type(event) for event in seen] == [Compacting, Compacted]
    check_valid(session)


async def test_by_hand_with_a_focus(world: World) -> None:
    session = world.begin([say(WORDS * 100), say("Two."), summary("About the parser.")])
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    await events(session.compact("the parser"))
    asked = json.loads(world.requests[-1].messages[-1])
    assert "the parser" in asked["content"]
    assert session.history.receipt is not None
    assert session.history.receipt.focus == "the parser"


async def test_by_hand_in_an_empty_session(world: World) -> None:
    session = world.begin()
    seen = await happens(session.compact())
    assert [type(event) for event in seen] == [Compacting, Notice]
    assert not session.history.path.exists()


async def test_what_was_taken_back_stays_so_over_a_resume(make: Make) -> None:
    """Taken back twice with a resume between: the very bytes of before, and no compaction until the hard limit."""
    world = make(compaction__keep_turns=1)
    session = await over(world, summary("One."), say("Fits."), summary("Two."), turns=2)
    await events(session.run_turn("next"))
    once = session.history.wire()[1:]
    await events(session.compact())
    assert session.history.receipt is not None and session.history.receipt.id == "c2"
    await session.undo_compaction()
    assert session.history.wire()[1:] == once
    session = await world.resume(session, window=WINDOW)
    assert (session.history.wire()[1:], session.history.resting) == (once, True)
    await session.undo_compaction()
    whole = session.history.wire()[1:]
    session = await world.resume(session, [say("Still whole.")], window=WINDOW)
    assert session.history.wire()[1:] == whole
    assert session.model.budget.trigger < session.status().context_tokens < session.model.budget.hard_limit
    seen = await happens(session.run_turn("more"))
    assert [type(event) for event in seen] == [TurnStarted, StepStarted, Replied, TurnEnded]
    assert session.history.wire()[1 : len(whole) + 1] == whole
    check_valid(session)


async def test_the_receipt_tells_of_the_block_that_stands_in_the_new_prompt(make: Make) -> None:
    world = make(compaction__keep_turns=1)
    world.file(".code-agent-cli/memory/tattoo.md", "never touch vendor/\n")
    session = await over(world, summary("Short."), say("Fits."), summary("Shorter."), turns=2)
    before = session.history.prompt.digest
    await events(session.run_turn("next"))
    first = session.history.receipt
    world.file(".code-agent-cli/memory/tattoo.md", "never touch third_party/\n")
    await events(session.compact())
    second, now = session.history.receipt, session.history.prompt.digest
    assert first is not None and second is not None
    assert (first.digest, second.digest) == (before, now)
    assert "" != before != now
    assert read_state(session.history.path).state.receipt == second


@dataclass
class Stingy:
    """Memory that makes one more message short at each climb, and fails where one is forced."""

    compactions: int = 0

    async def prepare(self, said: str) -> None: ...
    def recall(self, said: str) -> Recalled:
        return Recalled("")

    def safe_point(self) -> None: ...
    def pinned(self) -> str:
        return ""

    async def compact(self, view: HistoryView, need: Need) -> Compaction | None:
        if need.force:
            raise ModelError("No summary.")
        entry = view.entries[self.compactions]
        self.compactions += 1
        line = Replacement(UserMessage("(shorter)"), of=(entry.id,), id=entry.id)
        after = need.tokens - entry.tokens
        return Compaction(f"c{self.compactions}", 4, "", (line,), need.tokens, after, failure=need.unasked)


@pytest.mark.parametrize("failures", [0, 3])
async def test_why_there_is_no_summary_is_told_as_it_is(world: World, failures: int) -> None:
    """The second of two compactions in a row is not said to be for lack of a summariser, but where there is none."""
    session = world.begin(window=WINDOW)
    for _ in range(4):
        session.history.append(UserMessage(WORDS * 2_500), origin="user", said="Read this.")
    guard = HistoryGuard(
        session.history, Stingy(), session.meter, session.model.budget, lambda said: session.history.prompt
    )
    for _ in range(failures):
        await events(guard.compact())
    receipts = [event.receipt for event in await events(guard.maybe_compact_history()) if isinstance(event, Compacted)]
    rests, at_once = "the summariser rests after failures", "this one follows at once on another"
    assert [receipt.failure for receipt in receipts] == ([rests, rests] if failures else ["", at_once])


async def test_it_never_compacts_twice_for_nothing(make: Make) -> None:
    """What is kept alone is over the trigger: one summary, then no more until there is something to gain."""
    world = make(compaction__keep_turns=1)
    many = [call("shell_job", action="list")] * 4
    session = await over(world, *[summary("Short.")] * 2, *many, say("Done."), turns=2)
    seen = await happens(session.run_turn(WORDS * 4_500))
    assert sum(isinstance(event, Compacted) for event in seen) == 1
    assert said(session)[-1] == "Done."
    world.play()


async def test_a_summary_that_is_not_verified_stands_alone(make: Make) -> None:
    world = make(compaction__verify=False, compaction__mask=False, compaction__keep_turns=1)
    session = await over(world, summary("Short."), say("Fits."))
    await events(session.run_turn("next"))
    assert said(session)[0] == f"{MARK}\n{SUMMARY}\nShort."
    check_valid(session)


async def test_classic_mode_is_the_plain_rule(make: Make) -> None:
    world = make(compaction__mode="classic", compaction__keep_turns=1)
    session = await over(world, summary("Short."), say("Fits."))
    await events(session.run_turn("next"))
    assert said(session)[0] == "Short."
    assert said(session)[2:] == ["next", "Fits."]
