"""Commands that the person types: run like the model's, shown to it or not."""

from __future__ import annotations

from codeagent.core.events import ToolFinished, ToolProgress
from codeagent.core.messages import ToolCall, UserMessage
from codeagent.core.tools import ToolResult
from codeagent.llm.providers.scripted import say
from tests.agent._world import World, check_valid, events, messages, until
from tests.agent.conftest import Make


async def test_what_it_gave_back_travels_with_the_next_words_once(world: World) -> None:
    session = world.begin([say("Seen."), say("Fine.")])
    seen = await events(session.run_shell("echo 一; exit 3", tell=True))
    command = ToolCall("typed", "shell", '{"command": "echo \\u4e00; exit 3"}')
    result = ToolResult("一\n[exit 3]", failed=True, summary="exit 3", display="一")
    assert seen[-1] == ToolFinished(command, "Run echo 一; exit 3", result, 0.0)
    await events(session.run_shell("echo secret", tell=False))
    assert messages(session) == []
    await events(session.run_turn("what was that?"))
    await events(session.run_turn("good"))
    first, _, second, _ = session.history.entries
    head = "[The user ran a command]\n$ echo 一; exit 3\n一\n[exit 3]"
    assert (first.message, first.said) == (UserMessage(f"{head}\n\nwhat was that?"), "what was that?")
    assert second.message == UserMessage("good")
    check_valid(session)


async def test_nobody_is_asked_and_an_interruption_ends_it(make: Make) -> None:
    session = make(permission_mode="plan").begin()
    seen = await until(session.run_shell("echo begun; sleep 300", tell=False), ToolProgress, session.interrupt)
    assert isinstance(seen[-1], ToolFinished)
    assert (seen[-1].result.summary, session.running) == ("interrupted", False)
