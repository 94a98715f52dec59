"""Plan mode from the first look to the approved plan."""

from __future__ import annotations

from codeagent.agent.planning import OVER, PLANNING
from codeagent.core.messages import UserMessage
from codeagent.core.ui import Answer, Markdown
from codeagent.llm.providers.scripted import call, say
from tests.agent._world import World, check_valid, ended, events, messages, said
from tests.laws.requests import extends

PLAN = call("exit_plan", plan="1. 写 a.txt")
WRITE = call("write_file", path="a.txt", content="done\n")


async def test_reading_passes_writing_does_not_and_the_approved_plan_is_carried_out(world: World) -> None:
    world.file("b.txt", "here")
    world.person.answers = [Answer("edits")]
    session = world.begin([call("read_file", path="b.txt"), WRITE, PLAN, WRITE, say("Written.")])
    session.mode = "plan"
    assert ended(await events(session.run_turn("mend it"))).reason == "done"
    first, _, read, _, refused, _, approved, _, written, last = said(session)
    assert (first, last) == (f"{PLANNING}\n\nmend it", "Written.")
    assert ("here" in read, refused.startswith("[Plan mode"), "approved" in approved) == (True, True, True)
    assert (session.mode, (world.top / "a.txt").read_text(), "a.txt" in written) == ("accept-edits", "done\n", True)
    assert world.person.shown == [Markdown("1. 写 a.txt")]
    tools = {request.tools for request in world.requests}
    assert len(tools) == 1
    for earlier, later in zip(world.requests, world.requests[1:], strict=False):
        assert extends(later.messages, earlier.messages)
    check_valid(session)


async def test_a_rejected_plan_stays_a_plan(world: World) -> None:
    world.person.answers = [Answer("no", "smaller")]
    session = world.begin([PLAN, WRITE, say("Then this.")])
    session.mode = "plan"
    await events(session.run_turn("mend it"))
    assert (session.mode, (world.top / "a.txt").exists()) == ("plan", False)
    assert '"smaller"' in said(session)[2]


async def test_the_end_of_plan_mode_is_told_once(world: World) -> None:
    session = world.begin([say("Hm."), say("So."), say("Yes."), say("Again.")])
    session.mode = "plan"
    await events(session.run_turn("one"))
    await events(session.run_turn("two"))
    session.mode = "default"
    await events(session.run_turn("three"))
    await events(session.run_turn("four"))
    texts = [message.text for message in messages(session) if isinstance(message, UserMessage)]
    assert texts == [f"{PLANNING}\n\none", f"{PLANNING}\n\ntwo", f"{OVER}\n\nthree", "four"]


async def test_a_resumed_session_hears_of_the_end_too(world: World) -> None:
    session = world.begin([say("Hm.")])
    session.mode = "plan"
    await events(session.run_turn("one"))
    again = await world.resume(session, [say("Yes.")])
    await events(again.run_turn("two"))
    assert said(again)[-2] == f"{OVER}\n\ntwo"
