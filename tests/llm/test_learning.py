"""What endpoints teach by their refusals: asked otherwise at once, remembered for later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.errors import ModelError
from codeagent.core.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    encode,
    encode_json,
)
from codeagent.core.ports import Request
from codeagent.lessons import LessonBook
from codeagent.llm.learning import profile_of
from codeagent.llm.profiles import Profile
from codeagent.llm.providers.openai_chat import OpenAIChat
from codeagent.llm.providers.scripted import say
from tests.llm._playing import ask, endpoint
from tests.server.endpoint import Recorded, ScriptedEndpoint, chunk, refusal, sse

REF = {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
TOOLS = encode_json([{"type": "function", "function": {"name": "f", "parameters": REF}}])
TALK: tuple[Message, ...] = (
    SystemMessage("s"),
    UserMessage("a"),
    AssistantMessage("", (ToolCall("call_1", "f"),)),
    ToolMessage("call_1", "f", "1"),
    UserMessage("b"),
)
ALL = Request("m", [encode(message) for message in TALK], TOOLS)


def names(request: Recorded) -> list[str]:
    return [message["role"] for message in request.messages]


QUIRKS: dict[str, tuple[int, str, Any, dict[str, Any]]] = {
    # name: (status, complaint, whether a request offends, what is learnt)
    "no stream_options": (400, "Unknown field: stream_options", lambda r: "stream_options" in r.json, {"usage": False}),
    "roles must alternate": (
        500,
        "jinja: Conversation roles must alternate user/assistant/user/assistant/...",
        lambda r: ("tool", "user") in zip(names(r), names(r)[1:], strict=False),
        {"alternate": True},
    ),
    "no system role": (
        400,
        "System role not supported",
        lambda r: "system" in names(r),
        {"alternate": True, "system": False},
    ),
    "ids of nine": (
        400,
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        lambda r: b"call_1" in r.body,
        {"ids": "nine"},
    ),
    "reasoning wanted back": (
        400,
        "Missing `reasoning_content` field in the assistant message at message index 2",
        lambda r: b'"reasoning_content"' not in r.body,
        {"thoughts": "always"},
    ),
    "no anyOf": (400, "tools.0: anyOf is not supported", lambda r: b"anyOf" in r.body, {"plain_schemas": True}),
}


@pytest.mark.parametrize("quirk", QUIRKS)
async def test_a_refusal_teaches_once_and_for_all_sessions(quirk: str, tmp_path: Path) -> None:
    status, complaint, offends, learnt = QUIRKS[quirk]

    def strict(request: Recorded) -> Any:
        return refusal(status, complaint) if offends(request) else say("ok")

    book = LessonBook(tmp_path / "cache" / "profiles.json")
    async with ScriptedEndpoint(strict) as server:
        at = endpoint(server, lessons=book)
        for _ in range(2):
            assert (await ask(OpenAIChat(at), ALL)).message.text == "ok"
        assert len(server.requests) == 3
    assert book.of(at.place) == learnt
    assert profile_of(at) == replace(Profile(), **learnt)
    assert (tmp_path / "cache" / "profiles.json").stat().st_mode & 0o777 == 0o600


async def test_what_did_not_help_is_not_learnt(tmp_path: Path) -> None:
    book = LessonBook(tmp_path / "profiles.json")
    async with ScriptedEndpoint(lambda request: refusal(400, "stream_options: bad request")) as server:
        at = endpoint(server, lessons=book)
        with pytest.raises(ModelError):
            await ask(OpenAIChat(at), ALL)
        assert len(server.requests) == 2
    assert (book.of(at.place), (tmp_path / "profiles.json").exists()) == ({}, False)


async def test_a_thought_opened_in_the_prompt_is_learnt(tmp_path: Path) -> None:
    book = LessonBook(tmp_path / "profiles.json")
    answer = sse(chunk({"content": "hm\n</think>\nYes."}), chunk({}, "stop"))
    async with ScriptedEndpoint([answer]) as server:
        at = endpoint(server, lessons=book)
        assert (await ask(OpenAIChat(at))).message.text == "Yes."
    assert book.of(at.place) == {"opened": True}


@pytest.mark.parametrize(
    "garbage", ["", "[]", "{", '{"P": 1}', '{"P": {"ids": "x", "usage": 3, "vision": [], "u": 1}}']
)
def test_a_garbled_book_teaches_nothing_and_can_be_written(tmp_path: Path, garbage: str) -> None:
    path = tmp_path / "profiles.json"
    at = endpoint(ScriptedEndpoint(), lessons=LessonBook(path))
    path.write_text(garbage.replace("P", at.place))
    assert profile_of(at) == Profile()
    assert at.lessons is not None
    at.lessons.learn(at.place, {"usage": False})
    assert profile_of(at) == Profile(usage=False)
    at.lessons.learn(at.place, {})
    assert at.place not in json.loads(path.read_text())
