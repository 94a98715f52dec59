"""A web site on loopback that answers what it is told to, and keeps what it was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass(frozen=True)
class Served:
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


class Site:
    """Answers by path ("*" for every other); `asked` has the requests in order."""

    def __init__(self, pages: Mapping[str, Served]) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                site.asked.append(Asked(self.command, self.path, dict(self.headers), body))
                served = site.pages.get(self.path) or site.pages.get("*") or Served(b"gone", "text/plain", 404)
                time.sleep(served.delay)
                self.send_response(served.status)
                if served.type:
                    self.send_header("Content-Type", served.type)
                for name, value in served.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(served.body)))
                self.end_headers()
                with suppress(BrokenPipeError, ConnectionResetError):  # who has read enough goes away
                    self.wfile.write(served.body)

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        return Handler
