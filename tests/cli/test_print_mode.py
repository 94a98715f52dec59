"""One shot: what goes to standard output, what to standard error, and the exit code."""

from __future__ import annotations

import asyncio
import io
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

import pytest

from codeagent.agent.session import Status
from codeagent.core.entries import Compaction
from codeagent.core.errors import AuthError, CodeAgentError, IncompleteReply, LimitReached, RateLimited
from codeagent.core.events import (
    Compacted,
    Event,
    Notice,
    Replied,
    Retrying,
    TextDelta,
    ToolFinished,
    TurnEnded,
)
from codeagent.core.messages import AssistantMessage, ToolCall
from codeagent.core.tools import ToolResult
from codeagent.core.ui import Answer, Question
from codeagent.safety.permissions import Denial
from codeagent.ui.print_mode import Format, HeadlessUI, Stopper, print_failure, print_stopped, run_print

STATUS = Status(
    session_id="s1",
    name="",
    model="small",
    mode="default",
    context_tokens=0,
    window=1000,
    trigger=500,
    estimated=False,
    prompt_tokens=100,
    completion_tokens=10,
    cached_tokens=5,
    cost_usd=1.0,
    turns=0,
)


@dataclass
class Played:
    """A session that plays events, one list a turn."""

    turns: list[list[Event]]
    spends: bool = True
    id: str = "s1"
    denials: Sequence[Denial] = ()
    said: list[str] = field(default_factory=list)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)

    def status(self) -> Status:
        done = len(self.said)
        cost = 1.0 + 0.25 * done if self.spends else None
        return replace(STATUS, prompt_tokens=100 + 50 * done, completion_tokens=10 + done, cost_usd=cost)

    async def run_turn(self, text: str, beside: str = "") -> AsyncIterator[Event]:
        self.said.append(text)
        for event in self.turns[len(self.said) - 1]:
            if event is HANG:
                await self.interrupted.wait()
                yield TurnEnded("interrupted", 1, 0.0)
                return
            yield event

    def interrupt(self) -> None:
        self.interrupted.set()


HANG = Notice("(waits until it is interrupted)")
CALL = ToolCall("c1", "shell", '{"command":"make"}')
ANSWER: list[Event] = [
    Replied("m2", AssistantMessage("Looking.", (CALL,)), None, 0.1),
    ToolFinished(CALL, "Run make", ToolResult("out\nof it", failed=True, summary="exit 2"), 0.5),
    TextDelta("It is "),
    TextDelta("好."),
    Replied("m4", AssistantMessage("It is 好."), None, 0.1),
    TurnEnded("done", 2, 0.7),
]


def ended(error: CodeAgentError | None, reason: Any = "failed") -> list[Event]:
    return [Replied("m2", AssistantMessage("So far."), None, 0.1), TurnEnded(reason, 3, 0.1, error)]


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


async def run(
    session: Played,
    format: Format = "text",
    texts: Sequence[str] = ("do it",),
    stopper: Stopper | None = None,
    out: TextIO | None = None,
    **more: Any,
) -> Ran:
    async def each() -> AsyncIterator[str]:
        for text in texts:
            yield text

    to, err = out or io.StringIO(), io.StringIO()
    code = await run_print(session, each(), stopper or Stopper(), format=format, out=to, err=err, **more)
    return Ran(code, to.getvalue() if isinstance(to, io.StringIO) else "", err.getvalue())


async def test_text_is_the_last_answer_and_nothing_else() -> None:
    assert await run(Played([ANSWER])) == Ran(0, "It is 好.\n", "")


async def test_verbose_tells_of_tools_on_standard_error() -> None:
    assert await run(Played([ANSWER]), verbose=True) == Ran(0, "It is 好.\n", "✗ Run make  exit 2\n")


async def test_json_is_one_object() -> None:
    denial = Denial("shell", "make", "no terminal")
    ran = await run(Played([ANSWER], denials=[denial]), "json")
    (result,) = ran.lines
    assert isinstance(result.pop("duration_ms"), int)
    assert result == {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "It is 好.",
        "session_id": "s1",
        "num_turns": 2,
        "model": "small",
        "usage": {"prompt_tokens": 50, "completion_tokens": 1, "cached_tokens": 0},
        "cost_usd": 0.25,
        "permission_denials": [{"tool": "shell", "subject": "make", "reason": "no terminal"}],
    }
    assert (ran.code, ran.err) == (0, "")


async def test_a_price_that_is_not_known_is_null() -> None:
    (result,) = (await run(Played([ANSWER], spends=False), "json")).lines
    assert result["cost_usd"] is None


async def test_stream_json_tells_everything_in_order() -> None:
    receipt = Compaction("k1", 2, "m9", (), 900, 100)
    events: list[Event] = [
        Retrying(RateLimited("Too many requests."), 1, 5, 2.0),
        Notice("Half of {cap} is used.", {"cap": 10}, "warning"),
        Compacted(receipt),
        *ANSWER,
    ]
    ran = await run(Played([events]), "stream-json", cwd="/here")
    *lines, result = ran.lines
    assert [line.pop("session_id") for line in lines] == ["s1"] * len(lines)
    assert lines == [
        {"type": "system", "subtype": "init", "model": "small", "cwd": "/here", "permission_mode": "default"},
        {"type": "system", "subtype": "retry", "attempt": 1, "wait": 2.0, "error": "Too many requests."},
        {"type": "system", "subtype": "notice", "level": "warning", "message": "Half of 10 is used."},
        {
            "type": "compaction",
            "id": "k1",
            "rung": 2,
            "tokens_before": 900,
            "tokens_after": 100,
            "held": 0,
            "repaired": 0,
            "unheld": 0,
            "message": "Context compacted: 900 → 100 tokens; /compact show",
        },
        {
            "type": "assistant",
            "id": "m2",
            "message": {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"command":"make"}'}}
                ],
            },
        },
        {
            "type": "tool_result",
            "tool_call_id": "c1",
            "name": "shell",
            "content": "out\nof it",
            "failed": True,
            "partial": False,
            "denied": False,
            "ms": 500,
        },
        {"type": "text_delta", "text": "It is "},
        {"type": "text_delta", "text": "好."},
        {"type": "assistant", "id": "m4", "message": {"role": "assistant", "content": "It is 好."}},
    ]
    assert (result["type"], result["subtype"], result["session_id"]) == ("result", "success", "s1")
    assert ran.err.splitlines() == [
        "Too many requests. Trying again in 2 s (1/5).",
        "Half of 10 is used.",
        "Context compacted: 900 → 100 tokens; /compact show",
    ]


@pytest.mark.parametrize(
    ("events", "code", "subtype", "sentence"),
    [
        (ended(AuthError("The key is refused.")), 1, "error", "The key is refused."),
        (ended(RateLimited("Too many requests.")), 75, "error", "Too many requests."),
        (ended(IncompleteReply("The reply is cut.")), 75, "error", "The reply is cut."),
        (ended(LimitReached("After {steps}.", steps=3), "limit"), 53, "error_max_turns", "After 3."),
        (ended(LimitReached("Over {cap}.", cap=9), "limit"), 53, "error_budget", "Over 9."),
        (ended(None, "interrupted"), 130, "error_interrupted", "Interrupted."),
        ([], 130, "error_interrupted", "Interrupted."),
    ],
)
async def test_what_is_incomplete_is_never_a_success(
    events: list[Event], code: int, subtype: str, sentence: str
) -> None:
    ran = await run(Played([events]), "json")
    (result,) = ran.lines
    assert (ran.code, result["subtype"], result["is_error"], result["error"]) == (code, subtype, True, sentence)
    assert ran.err == f"{sentence}\n"
    assert await run(Played([events])) == Ran(code, "", f"{sentence}\n")


@pytest.mark.parametrize(
    ("why", "code", "subtype"), [("timeout", 124, "error_timeout"), ("interrupted", 130, "error_interrupted")]
)
async def test_stopped_from_outside(why: Any, code: int, subtype: str) -> None:
    stopper = Stopper()
    session = Played([[HANG], ANSWER])
    running = asyncio.ensure_future(run(session, "json", ["one", "two"], stopper))
    while not session.said:
        await asyncio.sleep(0)
    stopper.stop(why)
    stopper.stop("interrupted")
    ran = await running
    assert (ran.code, ran.lines[0]["subtype"], len(ran.lines), session.said) == (code, subtype, 1, ["one"])


async def test_stopped_before_it_began_no_model_is_asked() -> None:
    stopper, session = Stopper(), Played([ANSWER])
    stopper.stop("timeout")
    ran = await run(session, "json", stopper=stopper)
    assert (ran.code, ran.lines[0]["subtype"], session.said) == (124, "error_timeout", [])


async def test_several_messages_are_several_turns_and_one_failure_counts() -> None:
    session = Played([ended(AuthError("No.")), ANSWER])
    ran = await run(session, "stream-json", ["one", "two"])
    results = [line for line in ran.lines if line["type"] == "result"]
    assert (ran.code, session.said) == (1, ["one", "two"])
    assert [(result["subtype"], result["num_turns"]) for result in results] == [("error", 3), ("success", 2)]


async def test_a_reader_that_goes_away_stops_nothing() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    out = os.fdopen(theirs, "w", encoding="utf-8")
    assert await run(Played([ANSWER]), "stream-json", out=out) == Ran(0, "", "")
    with suppress(BrokenPipeError):
        out.close()


async def test_a_terminal_gets_no_escape_sequence(open_terminal: Callable[[], tuple[TextIO, int]]) -> None:
    out, screen = open_terminal()
    evil: list[Event] = [Replied("m2", AssistantMessage("\x1b]52;c;x\x07好"), None, 0), TurnEnded("done", 1, 0.0)]
    await run(Played([evil]), out=out)
    shown = os.read(screen, 1000)
    assert b"\x1b" not in shown
    assert "好".encode() in shown
    piped = await run(Played([evil]))
    assert piped.out == "\x1b]52;c;x\x07好\n"


@pytest.fixture
def open_terminal() -> Callable[[], tuple[TextIO, int]]:
    def opened() -> tuple[TextIO, int]:
        screen, line = os.openpty()
        return os.fdopen(line, "w", encoding="utf-8"), screen

    return opened


def test_a_failure_before_there_is_a_session() -> None:
    out = io.StringIO()
    print_failure("No key.", "text", out)
    assert out.getvalue() == ""
    print_failure("No key.", "json", out)
    assert json.loads(out.getvalue()) == {
        "type": "result",
        "subtype": "error",
        "is_error": True,
        "result": "",
        "session_id": None,
        "num_turns": 0,
        "duration_ms": 0,
        "model": None,
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0},
        "cost_usd": None,
        "permission_denials": [],
        "error": "No key.",
    }


def test_a_run_that_is_stopped_before_there_is_a_session() -> None:
    stopper, out, err = Stopper(), io.StringIO(), io.StringIO()
    stopper.stop("timeout")
    assert print_stopped(stopper, "json", out, err) == 124
    assert json.loads(out.getvalue())["subtype"] == "error_timeout"
    assert err.getvalue() == "Stopped: the time given by --timeout is over.\n"


async def test_nobody_answers(tmp_path: Path) -> None:
    err = io.StringIO()
    ui = HeadlessUI(err)
    ui.show(Notice("Careful: {what}\x1b[31m", {"what": "x"}))
    assert (ui.interactive, await ui.ask(Question("Sure?", ())), await ui.pick("Which?", ())) == (
        False,
        Answer(""),
        None,
    )
    assert (await ui.edit("x"), await ui.copy("x")) == (None, False)
    assert err.getvalue().startswith("Careful: x")
    assert "\x1b" not in err.getvalue()


async def test_a_cut_answer_is_printed_as_far_as_it_came_and_told() -> None:
    cut: list[Event] = [
        Replied("m2", AssistantMessage("So far."), None, 0.1, truncated=True),
        TurnEnded("limit", 1, 0.1, LimitReached("The answer was cut off.", hint="Say “go on”.")),
    ]
    assert await run(Played([cut])) == Ran(53, "So far.\n", "The answer was cut off.\n")
    ran = await run(Played([cut]), "json")
    (result,) = ran.lines
    assert (ran.code, result["subtype"], result["result"]) == (53, "error", "So far.")


@pytest.mark.parametrize("format", ["json", "stream-json"])
async def test_what_ends_a_line_for_some_readers_is_escaped(format: Format) -> None:
    text = "a\x85b\u2028c\u2029d"
    answer: list[Event] = [Replied("m2", AssistantMessage(text), None, 0.1), TurnEnded("done", 1, 0.1)]
    ran = await run(Played([answer]), format)
    assert ran.lines[-1]["result"] == text
