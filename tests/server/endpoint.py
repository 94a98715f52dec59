"""A scripted server that speaks chat completions over a real socket, with control over every byte.

    with ScriptedEndpoint([call("read_file", path="a.py"), say("Done.")]) as server:   # in a thread of its own
        ... client.stream(...) against server.base_url ...
    async with ScriptedEndpoint(...) as server:                                       # in the running loop

A script is a list of answers, or a function from request to answer. An answer is a `Step` of the scripted provider (or
a list of them), or a `Response`: pieces of bytes, pauses and disconnects. Light on purpose: no framework, and nothing
of a request is parsed before somebody asks, so that benchmarks measure the client.

    python -m tests.server.endpoint --port 0 --script steps.json [--repeat]

prints the base URL and serves until it is killed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from codeagent.llm.providers.scripted import Step, calls, estimate_usage, number_calls, read_script, slices


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Disconnect:
    reset: bool = False
    """Reset the connection instead of closing it."""


Piece = bytes | Pause | Disconnect
SSE = (("Content-Type", "text/event-stream; charset=utf-8"),)
JSON = (("Content-Type", "application/json"),)
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Response:
    """Each bytes piece of a stream is one chunk of a chunked body; other answers that are bytes alone have a length.

    Unframed, the pieces are all that is written.
    """

    pieces: tuple[Piece, ...]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = SSE
    framed: bool = True

    def on_wire(self) -> list[Piece]:
        """Head, body and end, with neighbouring bytes joined into one write."""
        if not self.framed:
            return list(self.pieces)
        if self.headers[:1] != SSE and all(isinstance(piece, bytes) for piece in self.pieces):
            body = b"".join(piece for piece in self.pieces if isinstance(piece, bytes))
            return [self._head(("Content-Length", str(len(body)))) + body]
        wire: list[Piece] = []
        data = self._head(("Transfer-Encoding", "chunked"))
        for piece in self.pieces:
            if isinstance(piece, bytes):
                data += b"%x\r\n%b\r\n" % (len(piece), piece)
            else:
                wire += [data, piece]
                data = b""
        return [*wire, data + b"0\r\n\r\n"]

    def _head(self, length: tuple[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in (*self.headers, length)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Recorded:
    """A request as it came: raw head and body, parsed when asked."""

    def __init__(self, head: bytes, body: bytes, at: float) -> None:
        self.head = head
        self.body = body
        self.at = at
        """time.monotonic() when its last byte had come."""

    @cached_property
    def line(self) -> tuple[str, str]:
        method, path, *_ = self.head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        return method, path

    @cached_property
    def headers(self) -> dict[str, str]:
        """Header values by lower-case name."""
        pairs = (line.split(":", 1) for line in self.head.decode("latin-1").split("\r\n")[1:] if ":" in line)
        return {name.lower(): value.strip() for name, value in pairs}

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.json["messages"]
        return found


Answer = Response | Step | Sequence[Step]
Script = Iterable[Answer] | Callable[[Recorded], Answer]


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One chat.completion.chunk; without `delta` and `finish` it has no choices."""
    empty = delta is None and finish is None
    choices = [] if empty else [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return {**head, "choices": choices, **fields}


def sse(*events: Mapping[str, Any] | Piece, done: bool = True) -> Response:
    """A stream of events: chunks are written as `data:` lines, bytes and pauses as they are."""
    pieces = [event if isinstance(event, Piece) else data_line(event) for event in events]
    return Response((*pieces, b"data: [DONE]\n\n") if done else tuple(pieces))


def data_line(event: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def refusal(status: int, message: str, *, headers: tuple[tuple[str, str], ...] = (), **fields: Any) -> Response:
    """An error answer in the usual form."""
    body = json.dumps({"error": {"message": message, **fields}}, ensure_ascii=False).encode()
    return Response((body,), status, (*JSON, *headers))


def chunks(step: Step, prompt_bytes: int = 0) -> list[dict[str, Any] | Piece]:
    """The events of a step, the usage last, each behind a pause when the step has a delay."""
    deltas: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in slices(step.reasoning)]
    deltas += [{"content": piece} for piece in slices(step.text)]
    for index, one in enumerate(step.calls):
        head = {"index": index, "id": one.id, "type": "function", "function": {"name": one.name, "arguments": ""}}
        parts = [{"index": index, "function": {"arguments": piece}} for piece in slices(one.arguments)]
        deltas += [{"tool_calls": [part]} for part in (head, *parts)]
    finish = "length" if step.cut else "tool_calls" if step.calls else "stop"
    usage = step.usage or estimate_usage(step, prompt_bytes)
    counts = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    pause = [Pause(step.delay)] if step.delay else []
    events: list[dict[str, Any] | Piece] = [chunk({"role": "assistant", "content": ""})]
    for delta in deltas:
        events += [*pause, chunk(delta)]
    return [*events, chunk(None, finish), chunk(usage=counts)]


@dataclass
class ScriptedEndpoint:
    """The server. `requests` are the chat completions asked for, `others` everything else (GET /models, ...)."""

    script: Script = ()
    models: tuple[str, ...] = ("scripted",)
    routes: Mapping[str, Response | Callable[[Recorded], Response]] = field(default_factory=dict)
    """Further answers by path ("/api/show")."""
    port: int = 0
    repeat: bool = False
    """Begin the script anew when it is used up."""

    def __post_init__(self) -> None:
        self.requests: list[Recorded] = []
        self.others: list[Recorded] = []
        self.connections = 0
        self.hung_up = 0
        """How often the client went away in the middle of an answer."""
        self._answers = None if callable(self.script) else list(self.script)
        self._served = 0
        self._called = 0
        self._open: set[_Connection] = set()
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def leftover(self) -> list[Answer]:
        return [] if self._answers is None else self._answers[self._served :]

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for connection in list(self._open):
            connection.drop()
        await self._server.wait_closed()

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with self:
            ready.set()
            await self._stop.wait()

    def answer(self, request: Recorded) -> Response:
        method, path = request.line
        if method == "POST" and path.endswith("/chat/completions"):
            self.requests.append(request)
            return self._next(request)
        self.others.append(request)
        if path in self.routes:
            route = self.routes[path]
            return route if isinstance(route, Response) else route(request)
        if path.endswith("/models"):
            listed = [{"id": name, "object": "model"} for name in self.models]
            return Response((json.dumps({"object": "list", "data": listed}).encode(),), headers=JSON)
        return refusal(404, f"nothing at {path}")

    def _next(self, request: Recorded) -> Response:
        if callable(self.script):
            answer = self.script(request)
        else:
            assert self._answers is not None
            if self._served == len(self._answers) and self.repeat:
                self._served = 0
            if self._served == len(self._answers):
                return refusal(400, "the script is used up")
            answer = self._answers[self._served]
            self._served += 1
        if isinstance(answer, Response):
            return answer
        step = number_calls(answer if isinstance(answer, Step) else calls(*answer), self._called + 1)
        self._called += len(step.calls)
        return sse(*chunks(step, len(request.body)))


class _Connection(asyncio.Protocol):
    """One kept-alive connection; requests are answered one after the other."""

    def __init__(self, endpoint: ScriptedEndpoint) -> None:
        self.endpoint = endpoint
        self.buffer = bytearray()
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.endpoint.connections += 1
        self.endpoint._open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.endpoint._open.discard(self)
        if self.task is not None and not self.task.done():
            self.endpoint.hung_up += 1
            self.task.cancel()

    def drop(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.buffer[:end])
        at = head.lower().find(b"\r\ncontent-length:")
        length = int(head[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self.buffer) < end + 4 + length:
            return
        body = bytes(self.buffer[end + 4 : end + 4 + length])
        del self.buffer[: end + 4 + length]
        wire = self.endpoint.answer(Recorded(head, body, time.monotonic())).on_wire()
        if len(wire) == 1 and isinstance(wire[0], bytes):
            self.transport.write(wire[0])
        else:
            self.task = asyncio.get_running_loop().create_task(self._play(wire))

    async def _play(self, wire: list[Piece]) -> None:
        for piece in wire:
            if isinstance(piece, Pause):
                await asyncio.sleep(piece.seconds)
            elif isinstance(piece, Disconnect):
                self._disconnect(piece)
                return
            else:
                self.transport.write(piece)

    def _disconnect(self, how: Disconnect) -> None:
        self.task = None
        if how.reset:
            raw = self.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self.transport.close()


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--repeat", action="store_true")
    options = parser.parse_args(arguments)

    async def serve() -> None:
        async with ScriptedEndpoint(read_script(options.script), port=options.port, repeat=options.repeat) as server:
            sys.stdout.write(server.base_url + "\n")
            sys.stdout.flush()
            await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1:])
