"""What goes to the model beside what the person typed: piped text, and facts for a message typed during the turn."""

from __future__ import annotations

from codeagent.core.messages import UserMessage
from codeagent.llm.providers.scripted import call, say
from tests.agent._world import World, check_valid, ended, events
from tests.agent.conftest import Make

FACT = "The port is 5433."
PIPED = "… please note that the port is 5433 …"


async def test_piped_text_goes_to_the_model_and_was_not_said(world: World) -> None:
    session = world.begin([say("Fine.")])
    await events(session.run_turn("Review this", PIPED))
    (entry, _) = session.history.entries
    assert (entry.message, entry.said) == (UserMessage(f"Review this\n\n{PIPED}"), "Review this")
    check_valid(session)


async def test_what_is_piped_in_asks_for_nothing_to_be_remembered(make: Make) -> None:
    world = make()
    world.person.interactive = False
    session = world.begin([call("save_memory", content=FACT), say("No.")] * 2)
    for typed in ("Review this", ""):
        await events(session.run_turn(typed, PIPED))
    assert session.memory.facts() == []
    assert [(denial.tool, denial.subject) for denial in session.denials] == [("save_memory", FACT)] * 2


async def test_words_beside_a_pipe_do(world: World) -> None:
    world.person.interactive = False
    session = world.begin([call("save_memory", content=FACT), say("Yes.")])
    await events(session.run_turn("Remember the port of this log: 5433", "a log"))
    assert [(fact.content, fact.source.quote) for fact in session.memory.facts()] == [
        (FACT, "Remember the port of this log: 5433")
    ]


async def test_a_request_to_remember_may_point_at_what_was_typed_before_also_after_a_resume(world: World) -> None:
    world.person.interactive = False
    session = world.begin([say("Fine."), call("save_memory", content=FACT), say("Yes.")])
    await events(session.run_turn("The database listens on 5433, that is its port."))
    await events(session.run_turn("Remember that."))
    session = await world.resume(session, [call("save_memory", content="The database has a port."), say("Yes.")])
    await events(session.run_turn("帮我记一下"))
    assert [(fact.content, fact.source.quote) for fact in session.memory.facts()] == [
        (FACT, "Remember that."),
        ("The database has a port.", "帮我记一下"),
    ]
    assert session.denials == ()


async def test_it_never_points_at_what_was_piped_in_or_what_the_model_said(world: World) -> None:
    world.person.interactive = False
    session = world.begin([say(FACT), call("save_memory", content=FACT), say("No.")])
    await events(session.run_turn("", PIPED))
    await events(session.run_turn("Remember that."))
    session = await world.resume(session, [call("save_memory", content=FACT), say("No.")])
    await events(session.run_turn("Remember that."))
    assert session.memory.facts() == []


async def test_a_message_of_piped_text_alone_names_the_session_and_outlives_it(world: World) -> None:
    session = world.begin([say("Fine.")])
    await events(session.run_turn("", "build it"))
    assert next((entry.message, entry.said) for entry in session.history.entries) == (
        UserMessage("build it"),
        "build it",
    )


async def test_facts_travel_with_a_message_typed_during_the_turn(world: World) -> None:
    session = world.begin([say("One."), say("Two."), say("Three.")])
    await events(session.run_turn("begin"))
    session.memory.save(FACT)
    session.steer("which port?")
    session.steer("go on")
    seen = await events(session.run_turn("look around"))
    users = [(e.said, e.message.text) for e in session.history.entries if e.said is not None]
    assert users[2:] == [
        (
            "which port?",
            f"## Relevant long-term memory\n- [{session.memory.facts()[0].id}, 0 h old] {FACT}\n\nwhich port?",
        ),
        ("go on", "go on"),
    ]
    assert ended(seen).reason == "done"
    check_valid(session)
