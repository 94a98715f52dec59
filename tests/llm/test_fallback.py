"""Who answers while the model that was asked cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from codeagent.core.entries import Usage
from codeagent.core.errors import AuthError, CodeAgentError, ConfigError, Overloaded
from codeagent.core.events import Notice, Retrying, TextDelta
from codeagent.core.messages import AssistantMessage, Reasoning, UserMessage, WireShape, encode
from codeagent.core.ports import Reply, Request, StreamItem
from codeagent.llm.fallback import REST, FallbackProvider, Spare
from codeagent.llm.providers.scripted import say
from tests.llm._playing import client, play
from tests.server.endpoint import Script, ScriptedEndpoint, chunk, refusal, sse

BUSY = refusal(529, "Overloaded")
ASKED = Request("first", (encode(UserMessage("hi")),))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def standing_by(
    first: Script, spare: Script, *, room: int = 1000
) -> AsyncIterator[tuple[FallbackProvider, Clock, ScriptedEndpoint]]:
    """A model with two spares, of which the first cannot be opened, the clock, and the endpoint of the other."""
    clock = Clock()
    async with ScriptedEndpoint(first) as one, ScriptedEndpoint(spare) as two:

        async def broken() -> Spare:
            raise ConfigError("KEY is not set.")

        async def opened() -> Spare:
            return Spare("spare", client(two, model="spare"), room, lambda usage: usage.prompt_tokens / 10)

        provider = FallbackProvider(client(one, model="first"), "first", (broken, opened), clock=clock)
        yield provider, clock, two
        await provider.aclose()


def said(items: list[StreamItem]) -> list[str]:
    """What the person is told, and who answered."""
    lines = []
    for item in items:
        if isinstance(item, Notice):
            lines.append(str(item).split(". ")[-1])
        elif isinstance(item, Retrying):
            lines.append("void")
        elif isinstance(item, Reply):
            lines.append(f"{item.model or 'first'}: {item.message.text}")
    return lines


async def test_the_next_one_answers_until_the_first_has_rested() -> None:
    async with standing_by([BUSY, say("c"), say("d")], [say("a"), say("b")]) as (provider, clock, _):
        told = [said(await play(provider, ASKED)) for _ in range(2)]
        clock.now = REST
        told += [said(await play(provider, ASKED)) for _ in range(2)]
    assert told == [
        ["KEY is not set.", "Going on with spare.", "spare: a"],
        ["spare: b"],
        ["first answers again.", "first: c"],
        ["first: d"],
    ]


async def test_one_that_is_still_busy_rests_again() -> None:
    async with standing_by([BUSY, BUSY], [say("a"), say("b"), say("c")]) as (provider, clock, _):
        for clock.now in (0.0, REST, REST + 1):
            *_, reply = await play(provider, ASKED)
            assert isinstance(reply, Reply)
            assert reply.model == "spare"


async def test_a_spare_is_asked_by_its_name_without_thoughts_and_its_price_counts() -> None:
    thought = encode(AssistantMessage("x", (), Reasoning("hm", by="first")), WireShape(echo_reasoning=True))
    counted = [say("a", usage=Usage(30, 2))]
    async with standing_by([BUSY], counted) as (provider, _, server):
        *_, reply = await play(provider, Request("first", (*ASKED.messages, thought)))
    assert reply == Reply(AssistantMessage("a"), Usage(30, 2), model="spare", cost_usd=3.0)
    assert (server.requests[0].json["model"], b"hm" in server.requests[0].body) == ("spare", False)


async def test_what_was_streamed_before_is_void() -> None:
    broken = sse(chunk({"content": "half"}), done=False)
    async with standing_by([broken], [say("a")]) as (provider, _, _server):
        items = await play(provider, ASKED)
    assert (items[0], said(items)[0], said(items)[-1]) == (TextDelta("half"), "void", "spare: a")


@pytest.mark.parametrize(
    ("first", "spare", "room", "error"),
    [
        (refusal(401, "no"), [], 1000, AuthError),
        (BUSY, [BUSY], 1000, Overloaded),
        (BUSY, [say("a")], 3, Overloaded),
    ],
    ids=["refused for good", "nobody answers", "too long for the spare"],
)
async def test_nobody_stands_in_where_it_does_not_help(
    first: Script, spare: Script, room: int, error: type[CodeAgentError]
) -> None:
    async with standing_by([first], spare, room=room) as (provider, _, _server):  # type: ignore[list-item]
        with pytest.raises(error):
            await play(provider, ASKED)
