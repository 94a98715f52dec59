"""One shot: read what is piped in, run, and end by signal or clock with an answer that says so."""

from __future__ import annotations

import asyncio
import json
import select
import signal
import stat
import sys
import threading
from collections.abc import AsyncIterator
from os import fstat

from codeagent.app import House, gather, open_desk
from codeagent.cli.output import tell
from codeagent.core.errors import CodeAgentError, UsageError
from codeagent.options import Options
from codeagent.ui.print_mode import HeadlessUI, Stopper, print_failure, print_stopped, run_print

GRACE = 3.0
"""Seconds to wait for the first byte of a pipe when there is a prompt anyway: it may never be written to nor closed."""


def is_piped() -> bool:
    """Whether standard input is something to read to its end: a pipe, a file, a socket; no terminal, not closed."""
    try:
        mode = fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def run_once(options: Options) -> int:
    """Do what is asked, print the answer; returns the exit code.

    Raises:
        UsageError: there is nothing to do, or nobody to pick a session.
    """
    if options.pick:
        raise UsageError("--resume needs an id here.", hint="See: codeagent sessions list")
    streaming = options.input == "stream-json"
    piped = "" if streaming else _piped(options.text)
    if not (streaming or (options.text or "").strip() or piped.strip()):
        raise UsageError("There is nothing to do.", hint='Give a prompt (codeagent -p "…"), or pipe one in.')
    if options.output != "text":
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    return asyncio.run(_run(options, piped))


async def _run(options: Options, piped: str) -> int:
    stopper, loop = Stopper(), asyncio.get_running_loop()
    work = asyncio.ensure_future(_converse(options, piped, stopper))

    def cancel() -> None:
        work.cancel()

    # Until there is a session, which ends in good order.
    stopper.actions.append(cancel)

    def interrupt(number: signal.Signals) -> None:
        if number != signal.SIGHUP:  # a closed terminal says so more than once: by its shell, and by itself
            loop.remove_signal_handler(number)  # the second one is not asked
        stopper.stop("interrupted")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, interrupt, number)
    try:
        return await work
    except asyncio.CancelledError:
        return print_stopped(stopper, options.output, sys.stdout, sys.stderr)


async def _converse(options: Options, piped: str, stopper: Stopper) -> int:
    ui = HeadlessUI(sys.stderr)
    try:
        loaded = gather(options)
        if (
            seconds := loaded.settings.timeout
        ) is not None:  # for the whole run, of which opening the session is a part
            asyncio.get_running_loop().call_later(seconds, stopper.stop, "timeout")
        desk = await open_desk(options, ui, loaded)
    except CodeAgentError as error:
        print_failure(str(error), options.output, sys.stdout)
        raise
    stopper.actions.clear()
    _tell(ui, desk)
    texts = _messages(stopper) if options.input == "stream-json" else _one(options.text or "")
    try:
        return await run_print(
            desk.session,
            texts,
            stopper,
            format=options.output,
            out=sys.stdout,
            err=sys.stderr,
            cwd=str(options.cwd),
            verbose=options.verbose,
            piped=piped,
        )
    finally:
        _tell(ui, desk)
        await desk.session.aclose()


def _tell(ui: HeadlessUI, desk: House) -> None:
    for notice in desk.notices:
        ui.show(notice)


def _piped(text: str | None) -> str:
    """What is piped in beside the words given."""
    if not is_piped():
        return ""
    if text and not select.select([sys.stdin], [], [], GRACE)[0]:
        tell(f"Nothing came through the pipe within {GRACE:.0f} s; going on without it.")
        return ""
    return decode(sys.stdin.buffer.read()).strip("\n")


def decode(data: bytes) -> str:
    """Text in UTF-8, else in the Chinese encoding that covers GBK, else whatever can be read of it."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


async def _one(prompt: str) -> AsyncIterator[str]:
    yield prompt


async def _messages(stopper: Stopper) -> AsyncIterator[str]:
    """User messages from standard input, one JSON object a line, until it ends or the run is stopped."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    # A thread that may wait for ever for its line must not keep the program from ending.
    threading.Thread(target=read, daemon=True).start()
    stopper.actions.append(lambda: lines.put_nowait(None))
    number = 0
    while (line := await lines.get()) is not None:
        number += 1
        if line.strip():
            yield parse_message(line, number)


def parse_message(line: bytes, number: int) -> str:
    """The text of `{"type":"user","message":{"role":"user","content":…}}`.

    Raises:
        UsageError: the line is something else.
    """
    try:
        content = json.loads(line)["message"]["content"]
        if isinstance(content, str):
            return content
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(
            "Line {number} of standard input is no user message.",
            number=number,
            hint='Expected: {"type":"user","message":{"role":"user","content":"…"}}',
        ) from error
