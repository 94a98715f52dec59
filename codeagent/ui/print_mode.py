"""One shot: a turn's events as text, one JSON object, or JSON lines; and the UI of a run in which nobody answers."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

from codeagent.core.display import visible
from codeagent.core.events import (
    Compacted,
    Event,
    Notice,
    Replied,
    Retrying,
    TextDelta,
    ToolFinished,
    TurnEnded,
    told,
)
from codeagent.core.messages import encode_json, to_wire
from codeagent.core.ui import Answer, Question, Row, Shown, Theme

if TYPE_CHECKING:
    from codeagent.agent.session import Status

Format = Literal["text", "json", "stream-json"]

FAILED = 1
TIMED_OUT = 124
INTERRUPTED = 130


class Conversation(Protocol):
    """What a run needs of the session."""

    @property
    def id(self) -> str: ...
    @property
    def denials(self) -> Sequence[Any]: ...
    def status(self) -> Status: ...
    def run_turn(self, text: str, beside: str = "") -> AsyncIterator[Event]: ...
    def interrupt(self) -> None: ...


class HeadlessUI:
    """Nobody is there: every question goes unanswered, what is shown goes to standard error."""

    interactive = False

    def __init__(self, err: TextIO) -> None:
        self._err = err

    async def ask(self, question: Question) -> Answer:
        return Answer("")

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        return None

    async def edit(self, text: str) -> str | None:
        return None

    async def copy(self, text: str) -> bool:
        return False

    def appear(self, *, theme: Theme | None = None, vim: bool | None = None) -> bool:
        return False

    def show(self, shown: Shown) -> None:
        if isinstance(shown, str | Notice):
            tell_line(self._err, str(shown))


class Stopper:
    """The ways a run is ended from outside: a signal, or the clock. The first one counts."""

    def __init__(self) -> None:
        self.why: Literal["", "interrupted", "timeout"] = ""
        self.actions: list[Callable[[], None]] = []
        """What stops the work at hand."""

    def stop(self, why: Literal["interrupted", "timeout"]) -> None:
        self.why = self.why or why
        for action in self.actions:
            action()


async def run_print(
    session: Conversation,
    texts: AsyncIterable[str],
    stopper: Stopper,
    *,
    format: Format,
    out: TextIO,
    err: TextIO,
    cwd: str = "",
    verbose: bool = False,
    piped: str = "",
) -> int:
    """Run a turn for each of `texts`, with `piped` beside it, and print what `format` wants.

    Answers go to `out`, everything else to `err`. A reader of `out` that goes away ends nothing. Returns the exit code:
    0 only if every turn came to its end.
    """
    stopper.actions.append(session.interrupt)
    printer = _Printer(session, stopper, format, out, err, verbose)
    printer.begin(cwd)
    code = 0
    async for text in texts:
        code = await printer.turn(text, piped) or code
        if stopper.why:
            return code
    return printer.stopped() if stopper.why else code


def print_stopped(stopper: Stopper, format: Format, out: TextIO, err: TextIO) -> int:
    """The result of a run that was stopped before there was a session; returns its exit code."""
    end = TurnEnded("interrupted", 0, 0.0)
    subtype, code = _outcome(end, stopper)
    sentence = _sentence(end, stopper)
    print_failure(sentence, format, out, subtype)
    tell_line(err, sentence)
    return code


def print_failure(sentence: str, format: Format, out: TextIO, subtype: str = "error") -> None:
    """The result of a run that ended before there was a session."""
    if format != "text":
        result = {
            **_result(subtype, "", None, 0, 0.0),
            "model": None,
            "usage": _usage(0, 0, 0),
            "cost_usd": None,
            "permission_denials": [],
            "error": sentence,
        }
        with suppress(OSError):  # the sentence and the exit code tell of it, too
            write_line(out, _json(result))


class _Printer:
    def __init__(
        self, session: Conversation, stopper: Stopper, format: Format, out: TextIO, err: TextIO, verbose: bool
    ) -> None:
        self._session = session
        self._stopper = stopper
        self._format = format
        self._out = out
        self._err = err
        self._verbose = verbose
        self._answer = ""
        self._cut = False
        """The newest reply, an answer, ran into its length limit."""
        self._lost: OSError | None = None
        """Why what was to be printed cannot be."""

    def begin(self, cwd: str) -> None:
        status = self._session.status()
        self._line("system", subtype="init", model=status.model, cwd=cwd, permission_mode=status.mode)

    async def turn(self, text: str, piped: str) -> int:
        started, before = time.monotonic(), self._session.status()
        self._answer, self._cut = "", False
        end = TurnEnded("interrupted", 0, 0.0)
        if not self._stopper.why:
            async for event in self._session.run_turn(text, piped):
                self._show(event)
                if isinstance(event, TurnEnded):
                    end = event
        return self._finish(end, before, time.monotonic() - started)

    def stopped(self) -> int:
        """Stopped between two turns."""
        return self._finish(TurnEnded("interrupted", 0, 0.0), self._session.status(), 0.0)

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta(text):
                self._line("text_delta", text=text)
            case Replied(id, message, truncated=cut):
                self._answer, self._cut = message.text, cut and not message.calls
                self._line("assistant", id=id, message=to_wire(message))
            case ToolFinished(call, title, result, seconds):
                self._line(
                    "tool_result",
                    tool_call_id=call.id,
                    name=call.name,
                    content=result.text,
                    failed=result.failed,
                    partial=result.partial,
                    denied=result.denied,
                    ms=round(seconds * 1000),
                )
                if self._verbose:
                    self._tell(f"{'✗' if result.failed else '•'} {title}  {result.summary}".rstrip())
            case Compacted(receipt):
                fields = ("id", "rung", "tokens_before", "tokens_after", "held")
                counted = {name: getattr(receipt, name) for name in fields}
                counted |= {"repaired": len(receipt.repaired), "unheld": len(receipt.unheld)}
                self._line("compaction", **counted, message=str(told(receipt)))
                self._tell(str(told(receipt)))
            case Retrying(error, attempt, attempts, wait):
                self._line("system", subtype="retry", attempt=attempt, wait=wait, error=str(error))
                self._tell(f"{error} Trying again in {wait:.0f} s ({attempt}/{attempts}).")
            case Notice():
                self._line("system", subtype="notice", level=event.level, message=str(event))
                self._tell(str(event))

    def _finish(self, end: TurnEnded, before: Status, seconds: float) -> int:
        subtype, code = _outcome(end, self._stopper)
        if self._cut and subtype == "error_max_turns":
            subtype = "error"
        error = _sentence(end, self._stopper)
        if self._format != "text":
            after = self._session.status()
            result = {
                **_result(subtype, self._answer, self._session.id, end.steps, seconds),
                "model": after.model,
                "usage": _usage(
                    after.prompt_tokens - before.prompt_tokens,
                    after.completion_tokens - before.completion_tokens,
                    after.cached_tokens - before.cached_tokens,
                ),
                "cost_usd": _cost(before, after),
                "permission_denials": [dataclasses.asdict(denial) for denial in self._session.denials],
            }
            self._print(_json({**result, "error": error} if error else result))
        elif code == 0 or (self._cut and self._answer):
            self._print(visible(self._answer) if self._out.isatty() else self._answer)
        if self._lost is not None:
            self._tell(f"Standard output cannot be written: {self._lost.strerror or self._lost}.")
            self._lost, code = None, code or FAILED
        if error:
            self._tell(error)
            if end.error is not None and end.error.hint and not self._cut:  # what it says is said in a conversation
                self._tell(end.error.hint)
        return code

    def _line(self, type: str, **fields: Any) -> None:
        if self._format == "stream-json":
            self._print(_json({"type": type, "session_id": self._session.id, **fields}))

    def _print(self, text: str) -> None:
        """A full disk is no reason to stop working either; the end tells of it."""
        try:
            write_line(self._out, text)
        except OSError as error:
            self._lost = error

    def _tell(self, text: str) -> None:
        tell_line(self._err, text)


def _json(value: object) -> str:
    """One line also for readers to whom U+0085 ends one."""
    return encode_json(value).decode().replace("\x85", "\\u0085")


def write_line(stream: TextIO, text: str) -> None:
    """Write and flush one line; a reader who has gone is no reason to stop working."""
    with suppress(BrokenPipeError):
        stream.write(f"{text}\n")
        stream.flush()


def tell_line(stream: TextIO, text: str) -> None:
    """One line on standard error; where it cannot go there is no other place for it."""
    with suppress(OSError):
        write_line(stream, visible(text))


def _outcome(end: TurnEnded, stopper: Stopper) -> tuple[str, int]:
    match end.reason:
        case "done":
            return "success", 0
        case "interrupted" if stopper.why == "timeout":
            return "error_timeout", TIMED_OUT
        case "interrupted":
            return "error_interrupted", INTERRUPTED
        case "limit" if end.error is not None and "cap" in end.error.arguments:
            return "error_budget", end.error.exit_code
        case "limit":
            return "error_max_turns", 53
    return "error", end.error.exit_code if end.error is not None else 1


def _sentence(end: TurnEnded, stopper: Stopper) -> str:
    if end.error is not None:
        return str(end.error)
    if end.reason == "interrupted":
        return "Stopped: the time given by --timeout is over." if stopper.why == "timeout" else "Interrupted."
    return "" if end.reason == "done" else "The turn failed."


def _result(subtype: str, answer: str, session_id: str | None, steps: int, seconds: float) -> Mapping[str, Any]:
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": subtype != "success",
        "result": answer,
        "session_id": session_id,
        "num_turns": steps,
        "duration_ms": round(seconds * 1000),
    }


def _usage(prompt: int, completion: int, cached: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached}


def _cost(before: Status, after: Status) -> float | None:
    if before.cost_usd is None or after.cost_usd is None:
        return None
    return round(after.cost_usd - before.cost_usd, 6)
