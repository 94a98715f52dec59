"""Fetching: hop by hop, each to an address that was checked, within limits of size and time."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlunsplit

from codeagent.core.errors import CodeAgentError, NetworkError
from codeagent.core.web import Hit, Page
from codeagent.tools.web import reading
from codeagent.tools.web.addresses import Resolve, checked, parse_url, proxy_for, resolve
from codeagent.tools.web.engine import Engine

if TYPE_CHECKING:
    import httpx2

LARGEST = 5_000_000
"""Bytes of an answer that are read."""
SECONDS = 30.0
"""For all hops of a page together."""
HOPS = 8
FRESH = 900.0
"""Seconds that a page is kept."""
KEPT = 4_000_000
"""Characters of all pages that are kept."""
_CONNECT = 10.0
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; codeagent)",
    "Accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5",
    "Accept-Language": "*",
}
_BODY_OF_FAILURE = 600


@dataclass(frozen=True, slots=True)
class _Answer:
    parts: SplitResult
    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    cut: bool


class WebClient:
    """Implements `core.web.Web`; keeps pages for a while, so that paging through one asks its server once."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        private: bool = False,
        engine: Engine | None = None,
        resolving: Resolve = resolve,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`environ` names proxies; with `private` addresses of this machine and its network may be reached."""
        self._environ = environ
        self._private = private
        self._engine = engine
        self._resolving = resolving
        self._seconds = seconds
        self._clock = clock
        self._kept: dict[str, tuple[float, Page]] = {}

    @property
    def engine(self) -> str:
        return self._engine.name if self._engine else ""

    async def fetch(self, url: str) -> Page:
        url = urlunsplit(parse_url(url))
        since, page = self._kept.get(url, (0.0, None))
        if page is None or self._clock() - since > FRESH:
            page = await self._page(url)
            self._keep(url, page)
        return page

    async def search(self, query: str) -> list[Hit]:
        if self._engine is None:
            raise CodeAgentError("No search provider is set up.")
        question = self._engine.ask(query)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._once(
                    parse_url(question.url), None, question.method, question.headers, question.json
                )
        except TimeoutError:
            raise self._late(self.engine) from None
        if answer.status >= 400:
            raise CodeAgentError(
                "{name} refused the search: {status} {reason}. {told}",
                name=self.engine,
                status=answer.status,
                reason=answer.reason,
                told=(reading.text_of(answer.body[:_BODY_OF_FAILURE], "") or "").strip(),
            )
        return self._engine.hits(answer.body)

    # ---- a page ----------------------------------------------------------------------------------------------------

    async def _page(self, url: str) -> Page:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._follow(parse_url(url))
                return await asyncio.to_thread(_read, answer)
        except TimeoutError:
            raise self._late(url) from None

    async def _follow(self, parts: SplitResult) -> _Answer:
        """The answer at the end of redirects that stay on one site; one to another site is told, not followed."""
        for _ in range(HOPS):
            addresses = await self._checked(parts)
            answer = await self._once(parts, addresses)
            location = answer.headers.get("location")
            if answer.status not in (301, 302, 303, 307, 308) or not location:
                return answer
            before, parts = parts, parse_url(urljoin(urlunsplit(parts), location))
            if _site(parts) != _site(before):
                await self._checked(parts)
                raise CodeAgentError(
                    "{url} leads to another site: {target} . If that is wanted, fetch that address.",
                    url=urlunsplit(before),
                    target=urlunsplit(parts),
                )
        raise CodeAgentError("{url} leads from one address to the next without an end.", url=urlunsplit(parts))

    async def _checked(self, parts: SplitResult) -> Sequence[str] | None:
        """Addresses to connect to; None where a proxy connects, which may know names that are not known here."""
        proxied = proxy_for(parts, self._environ) is not None
        try:
            found = await checked(parts, self._resolving, private=self._private)
        except CodeAgentError as error:
            if proxied and isinstance(error.__cause__, OSError):
                return None
            raise
        return None if proxied else found

    async def _once(
        self,
        parts: SplitResult,
        addresses: Sequence[str] | None,
        method: str = "GET",
        headers: Mapping[str, str] = _HEADERS,
        json: object = None,
    ) -> _Answer:
        """One request; to `addresses`, one after the other until one takes it, or to whatever the name says."""
        package = await asyncio.to_thread(importlib.import_module, "httpx2")
        client: httpx2.AsyncClient = await asyncio.to_thread(
            package.AsyncClient,
            proxy=proxy_for(parts, self._environ),
            trust_env=False,
            timeout=package.Timeout(self._seconds, connect=_CONNECT),
        )
        host = parts.hostname or ""
        headers = {**headers, "Host": parts.netloc}
        async with client:
            for left, address in reversed(list(enumerate(reversed(addresses or [host])))):
                target = parts._replace(netloc=_place(address, parts.port))
                request = client.build_request(
                    method, urlunsplit(target), headers=headers, json=json, extensions={"sni_hostname": host}
                )
                try:
                    response = await client.send(request, stream=True)
                except package.ConnectError as error:
                    if left:
                        continue
                    raise NetworkError("No connection to {host}: {reason}.", host=host, reason=error) from error
                except (package.HTTPError, package.InvalidURL, ValueError) as error:
                    raise NetworkError("{host} did not answer: {reason}.", host=host, reason=_why(error)) from error
                try:
                    return await _answer(parts, response)
                except package.HTTPError as error:
                    raise NetworkError("{host} broke off: {reason}.", host=host, reason=_why(error)) from error
                finally:
                    await response.aclose()
        raise AssertionError("there is always one address")

    def _late(self, who: str) -> NetworkError:
        return NetworkError("{who} did not answer within {seconds:g} s.", who=who, seconds=self._seconds)

    def _keep(self, url: str, page: Page) -> None:
        self._kept.pop(url, None)
        self._kept[url] = (self._clock(), page)
        while len(self._kept) > 1 and sum(len(page.text) for _, page in self._kept.values()) > KEPT:
            del self._kept[next(iter(self._kept))]


async def _answer(parts: SplitResult, response: httpx2.Response) -> _Answer:
    body, cut = bytearray(), False
    async for piece in response.aiter_bytes(65_536):
        body += piece
        if len(body) > LARGEST:
            cut = True
            break
    return _Answer(parts, response.status_code, response.reason_phrase, response.headers, bytes(body[:LARGEST]), cut)


def _read(answer: _Answer) -> Page:
    """Raises CodeAgentError where the server says no."""
    url = urlunsplit(answer.parts)
    content = answer.headers.get("content-type", "")
    type, _, parameters = (part.strip() for part in content.lower().partition(";"))
    charset = parameters.partition("charset=")[2].partition(";")[0].strip(" \"'")
    page = reading.is_page(type, answer.body)
    text, title = None, ""
    if page or not type or reading.is_text(type):
        text = reading.text_of(answer.body, charset, sniff=page or "xml" in type)
    if text is not None and page:
        title = reading.title_of(text)
        text = reading.markdown_of(text, url) or "(The page has no text to read; it may be made by scripts.)"
    if answer.status >= 400:
        told = (text or "").strip()[:_BODY_OF_FAILURE]
        raise CodeAgentError(
            "{url} answers {status} {reason}.{told}",
            url=url,
            status=answer.status,
            reason=answer.reason,
            told=f" It says:\n{told}" if told else "",
        )
    if text is None:
        kind = type or "binary data"
        more = "more than " if answer.cut else ""
        text = f"(Not text: {kind}, {more}{len(answer.body):,} bytes. To work with it, download it with shell.)"
    return Page(url, type, text, title, answer.cut)


def _site(parts: SplitResult) -> str:
    return (parts.hostname or "").removeprefix("www.")


def _place(address: str, port: int | None) -> str:
    address = f"[{address}]" if ":" in address else address
    return f"{address}:{port}" if port else address


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
