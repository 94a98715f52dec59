"""Passing failures are tried again, visibly and interruptibly; others are not."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from codeagent.core.entries import Usage
from codeagent.core.errors import (
    AuthError,
    CodeAgentError,
    IncompleteReply,
    Offline,
    Overloaded,
    PassingError,
    RateLimited,
)
from codeagent.core.events import Retrying, TextDelta
from codeagent.core.messages import AssistantMessage
from codeagent.core.ports import Endpoint, Purpose, Reply
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import ScriptedProvider, fail, say
from codeagent.llm.retry import RetryingProvider
from tests.llm._playing import HI, client, play
from tests.server.endpoint import Pause, ScriptedEndpoint, chunk, refusal, sse


class Clock:
    """Sleeps in no time and remembers how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def test_a_failure_in_passing_is_said_waited_for_and_tried_again() -> None:
    clock = Clock()
    script = ScriptedProvider(
        [say("Half", error="IncompleteReply"), fail("Overloaded"), say("Whole", usage=Usage(1, 1))]
    )
    items = await play(RetryingProvider(script, 5, sleep=clock.sleep, jitter=lambda: 0.5))
    shown = [
        (type(item.error).__name__, item.attempt, item.attempts, item.wait) if isinstance(item, Retrying) else item
        for item in items
    ]
    assert shown == [
        TextDelta("Half"),
        ("IncompleteReply", 1, 5, 0.5),
        ("Overloaded", 2, 5, 1.0),
        TextDelta("Whole"),
        Reply(AssistantMessage("Whole"), Usage(1, 1)),
    ]
    assert clock.slept == [0.5, 1.0]
    assert script.leftover == ()


@pytest.mark.parametrize(("jitter", "waits"), [(0.0, [0.375, 0.75, 1.5]), (1.0, [0.625, 1.25, 2.5])])
async def test_it_gives_up_after_as_many_retries_as_allowed(jitter: float, waits: list[float]) -> None:
    clock = Clock()
    script = ScriptedProvider([], then=fail("IncompleteReply"))
    with pytest.raises(IncompleteReply):
        await play(RetryingProvider(script, 3, sleep=clock.sleep, jitter=lambda: jitter))
    assert (clock.slept, len(script.requests)) == (waits, 4)


async def test_waits_grow_to_a_bound() -> None:
    clock = Clock()
    with pytest.raises(CodeAgentError):
        await play(
            RetryingProvider(ScriptedProvider([], then=fail("NetworkError")), 9, sleep=clock.sleep, jitter=lambda: 0.5)
        )
    assert clock.slept == [0.5, 1, 2, 4, 8, 16, 32, 32, 32]


async def test_what_will_not_pass_is_not_tried_again() -> None:
    script = ScriptedProvider([fail("AuthError"), say("never")])
    with pytest.raises(AuthError):
        await play(RetryingProvider(script, 5))
    assert len(script.leftover) == 1


@pytest.mark.parametrize("purpose", ["summary", "compress"])
async def test_a_summary_is_asked_for_once(purpose: Purpose) -> None:
    script = ScriptedProvider([replace(fail("Overloaded"), purpose=purpose)])
    with pytest.raises(Overloaded):
        await play(RetryingProvider(script, 5), replace(HI, purpose=purpose))
    assert script.leftover == ()


async def test_the_endpoint_is_obeyed_and_never_asked_earlier() -> None:
    clock = Clock()
    busy = [refusal(429, "slow", headers=(("Retry-After", wait),)) for wait in ("3", "0", "120")]
    async with ScriptedEndpoint([*busy, say("ok")]) as server:
        *_, reply = await play(RetryingProvider(client(server), 5, sleep=clock.sleep, jitter=lambda: 0.5))
    assert isinstance(reply, Reply)
    assert clock.slept == [3, 1, 120]


@pytest.mark.parametrize(("status", "what"), [(429, "limits the rate of requests"), (503, "is overloaded or failing")])
async def test_a_wait_that_nobody_sits_through_is_told_instead(status: int, what: str) -> None:
    async with ScriptedEndpoint([refusal(status, "slow", headers=(("Retry-After", "3600"),)), say("never")]) as server:
        with pytest.raises(PassingError) as raised:
            await play(RetryingProvider(client(server), 5, sleep=Clock().sleep))
    assert str(raised.value) == f"{server.base_url} {what}: status {status}, slow. Come back in 60 min."
    assert (raised.value.exit_code, len(server.leftover)) == (75, 1)


async def test_a_wait_can_be_interrupted() -> None:
    script = ScriptedProvider([fail("RateLimited"), say("never")])
    stream = RetryingProvider(script, 5, sleep=lambda _: asyncio.sleep(60)).stream(HI)
    assert isinstance(await anext(stream), Retrying)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(script.leftover) == 1


async def test_leaving_early_closes_the_connection() -> None:
    async with ScriptedEndpoint([sse(chunk({"content": "x"}), Pause(30))]) as server:
        stream = RetryingProvider(client(server), 1).stream(HI)
        assert await anext(stream) == TextDelta("x")
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(5):
            while not server.hung_up:
                await asyncio.sleep(0.01)


async def test_the_last_error_is_the_one_that_is_raised() -> None:
    script = ScriptedProvider([fail("Overloaded"), fail("RateLimited")])
    with pytest.raises(RateLimited):
        await play(RetryingProvider(script, 1, sleep=Clock().sleep))


async def test_a_wait_can_be_cut_short() -> None:
    script = ScriptedProvider([fail("Overloaded"), say("Whole")])
    replies = []
    async for item in RetryingProvider(script, 5, sleep=lambda seconds: asyncio.sleep(3600)).stream(HI):
        if isinstance(item, Retrying):
            item.skip()
        elif isinstance(item, Reply):
            replies.append(item.message.text)
    assert replies == ["Whole"]


async def test_without_a_network_nobody_waits() -> None:
    clock = Clock()
    provider = RetryingProvider(OpenAIChat(Endpoint("http://no-such-host.invalid/v1", "", "m")), 5, sleep=clock.sleep)
    with pytest.raises(Offline, match=r"no way to http://no-such-host\.invalid/v1"):
        await play(provider)
    assert clock.slept == []
