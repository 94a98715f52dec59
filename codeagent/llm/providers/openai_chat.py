"""Any chat-completions endpoint, by the official `openai` package, which is imported here alone and on first use.

The package does transport, authentication and connection reuse. It is handed a body that it need not walk and gives the
bytes of the stream, which are read here: its own models cost more than the rest of a round, and it drops the mark that
tells a whole stream from a cut one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from codeagent.core.errors import ContextOverflow, IncompleteReply, ModelError, NetworkError, PassingError
from codeagent.core.messages import has_images
from codeagent.core.ports import Endpoint, ProviderKind, Request, StreamItem
from codeagent.llm.assemble import Assembler
from codeagent.llm.errors import Refusal, check, read_error, refused, retry_after, unreachable
from codeagent.llm.learning import lessons, profile_of
from codeagent.llm.presets import is_loopback
from codeagent.llm.profiles import Profile, body
from codeagent.llm.shaping import fitting_name
from codeagent.llm.sse import DONE, EventReader, WholeReader

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

NO_KEY = "none"
"""Sent where no key is needed: the package insists on one."""
AFTER_FINISH = 5.0
"""Seconds to wait for what may follow the end of the reply (usage, [DONE])."""
AFTER_DONE = 0.25
"""Seconds that a stream may take to close after [DONE]; then its connection is given up."""


def _package() -> Any:
    """The `openai` package; the first call takes a good third of a second."""
    import openai

    return openai


def _client(endpoint: Endpoint) -> AsyncOpenAI:
    """A client without retries of its own and without time-outs but for connecting. Slow: it loads the certificates."""
    package = _package()
    with suppress(ImportError):
        # What the transport would load in the middle of the first request: a few dozen milliseconds.
        import_module("anyio._backends._asyncio")
    # A proxy of the environment is never meant for a server on this very machine.
    direct = package.DefaultAsyncHttpxClient(trust_env=False) if is_loopback(endpoint.base_url) else None
    client: AsyncOpenAI = package.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or NO_KEY,
        max_retries=0,
        timeout=package.Timeout(None, connect=endpoint.connect_timeout),
        http_client=direct,
    )
    if "api.openai.com" not in endpoint.base_url:
        # The package takes these from the environment, where they are meant for OpenAI itself.
        client.organization = client.project = None
    return client


class OpenAIChat:
    """One endpoint. Learns once which optional fields it refuses, and leaves them out from then on."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._profile = profile_of(endpoint)
        self._names: tuple[bytes, dict[str, str]] = (b"", {})
        self._opening: asyncio.Task[AsyncOpenAI] | None = None

    async def warm(self) -> None:
        with suppress(ModelError):
            await self._connect()

    async def stream(self, request: Request) -> AsyncIterator[StreamItem]:
        profile = self._profile
        assembler = Assembler(
            self._endpoint, self._offered(request.tools), thinking=profile.opened, bare=profile.bare_calls
        )
        done = False
        opened = await self._open(request)
        try:
            async with aclosing(self._values(opened.response, assembler)) as values:
                async for value in values:
                    if value is DONE:
                        done = True
                        continue
                    for item in assembler.feed(value):
                        yield item
        except PassingError:
            # What came before the connection broke may be whole all the same.
            if not assembler.finish:
                raise
        finally:
            await opened.close()
        for item in assembler.rest():
            yield item
        reply = assembler.reply(done=done)
        if assembler.opened:
            await self._learn(replace(self._profile, opened=True))
        yield reply

    @property
    def profile(self) -> Profile:
        """How the endpoint is asked now, with what it has taught."""
        return self._profile

    async def _learn(self, profile: Profile) -> None:
        """Ask like that from now on, in later sessions too."""
        self._profile = profile
        if self._endpoint.lessons is not None:
            found = lessons(self._endpoint, profile)
            await asyncio.to_thread(self._endpoint.lessons.learn, self._endpoint.place, found)

    def _offered(self, tools: bytes) -> Mapping[str, str]:
        """The names of the tools of a request, by what the model may call them; the same for most of a session."""
        if tools != self._names[0]:
            names = [str(tool["function"]["name"]) for tool in json.loads(tools)]
            self._names = tools, {fitting_name(name): name for name in names} | {name: name for name in names}
        return self._names[1]

    async def fetch(self, path: str, content: Mapping[str, Any] | None = None) -> object:
        """The JSON at `path` (below the base URL, or a whole URL), posted to when there is something to post.

        Raises:
            ModelError: the endpoint cannot be reached or refuses, or answers with something else.
        """
        client = await self._connect()
        try:
            async with asyncio.timeout(self._endpoint.connect_timeout):
                if content is None:
                    return await client.get(path, cast_to=object)
                return await client.post(path, body=dict(content), cast_to=object)
        except TimeoutError as error:
            raise self._silence(self._endpoint.connect_timeout) from error
        except (_package().APIError, ValueError) as error:
            raise self._meaning(error, path) from error

    async def aclose(self) -> None:
        if self._opening is not None:
            with suppress(ModelError):
                await (await self._connect()).close()

    async def _connect(self) -> AsyncOpenAI:
        """The client, made in a thread by whoever asks first.

        Raises:
            ModelError: none can be made for this endpoint.
        """
        check(self._endpoint)
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(_client, self._endpoint))
        try:
            return await asyncio.shield(self._opening)
        except Exception as error:
            # A proxy of an unknown kind, a file of certificates that is not there: said by the environment.
            message = "No connection to {url} can be set up: {reason}."
            raise ModelError(message, url=self._endpoint.base_url, reason=error) from error

    async def _open(self, request: Request) -> AsyncStream[object]:
        """Send the request and, where a refusal names an optional field of ours, send it again without."""
        client = await self._connect()
        profile = self._profile
        content = body(request, self._endpoint, profile)
        while True:
            try:
                async with asyncio.timeout(self._endpoint.first_token_timeout):
                    opened = await self._post(client, content)
                if profile != self._profile:
                    await self._learn(profile)
                return opened
            except TimeoutError as error:
                raise self._silence(self._endpoint.first_token_timeout) from error
            except (_package().APIError, ValueError) as error:
                meaning = self._meaning(error)
                extra = [name for name, _ in self._endpoint.extra]
                leaner = None if isinstance(meaning, ContextOverflow) else _leaner(profile, error, request, extra)
                # What would be sent word for word again would be refused again.
                if leaner is None or (mended := body(request, self._endpoint, leaner)) == content:
                    raise meaning from error
                profile, content = leaner, mended

    async def _post(self, client: AsyncOpenAI, content: bytes) -> AsyncStream[object]:
        return await client.post(
            "/chat/completions",
            content=content,
            options={"headers": {"Content-Type": "application/json"}},
            cast_to=object,
            stream=True,
            stream_cls=_package().AsyncStream[object],
        )

    async def _values(self, response: Any, assembler: Assembler) -> AsyncGenerator[Any]:
        """The JSON values of a response as they come, and `DONE`.

        Raises:
            PassingError: it broke off, fell silent, or brought something garbled.
            ModelError: it is no stream of chat completions at all.
        """
        kind = response.headers.get("content-type", "")
        reader: EventReader | WholeReader = WholeReader() if "application/json" in kind else EventReader()
        pieces, done = response.aiter_bytes(), False
        try:
            while (piece := await self._read(pieces, assembler, done)) is not None:
                for value in () if done else reader.feed(piece):
                    done = done or value is DONE
                    yield value
            for value in () if done else reader.finish():
                yield value
        except ValueError as error:
            raise IncompleteReply("The answer of {url} was garbled.", url=self._endpoint.base_url) from error
        if not done and not assembler.begun and "text/html" in kind:
            message = "{url} answers with a web page instead of a chat completion. Check the base URL."
            raise ModelError(message, url=self._endpoint.base_url)

    async def _read(self, pieces: AsyncIterator[bytes], assembler: Assembler, done: bool) -> bytes | None:
        """The next bytes of the stream, None at its end; how long they may take depends on what came before."""
        limit = self._endpoint.idle_timeout if assembler.begun else self._endpoint.first_token_timeout
        if assembler.finish or done:
            limit = min(limit, AFTER_DONE if done else AFTER_FINISH)
        try:
            async with asyncio.timeout(limit):
                return await anext(pieces, None)
        except TimeoutError as error:
            if done:
                return None
            raise self._silence(limit) from error
        except Exception as error:
            # Whatever the transport raises here means one thing: the connection is gone.
            if done:
                return None
            raise IncompleteReply(
                "The connection to {url} broke in the middle of the answer.", url=self._endpoint.base_url
            ) from error

    def _silence(self, seconds: float) -> NetworkError:
        return NetworkError("{url} sent nothing for {seconds:g} s.", url=self._endpoint.base_url, seconds=seconds)

    def _meaning(self, error: Exception, path: str = "/chat/completions") -> ModelError:
        """Our error for one of the package's, or for what it could not encode or decode."""
        package, endpoint = _package(), self._endpoint
        if isinstance(error, package.APIStatusError):
            status: Any = error
            refusal = read_error({"error": status.body}) or Refusal(None, "")
            wait = retry_after(status.response.headers, datetime.now(UTC))
            return refused(replace(refusal, status=status.status_code, retry_after=wait), endpoint, path)
        if isinstance(error, package.APITimeoutError):
            return unreachable(f"no connection within {endpoint.connect_timeout:g} s", endpoint)
        if isinstance(error, package.APIError):
            return unreachable(str(error.__cause__ or error), endpoint)
        return ModelError("{url} cannot be asked: {reason}.", url=endpoint.base_url, reason=error)


def _leaner(profile: Profile, error: Any, request: Request, extra: Sequence[str]) -> Profile | None:
    """What is left of `profile` when a refusal names something optional in it, or complains of a form it can mend."""
    status, complaint = getattr(error, "status_code", 0), str(getattr(error, "body", ""))
    # Of pictures some say that there is no such endpoint or media type, or just fail.
    pictures = status in (400, 404, 415, 422, 500, 501) and any(map(has_images, request.messages))
    # A template that breaks is told as a failure of the server.
    broken = status == 500 and re.search(r"jinja|template|roles? must", complaint) is not None
    heard = pictures or broken or status in (400, 422)
    return profile.without(complaint, pictures=pictures, extra=extra) if heard else None


PROVIDER = ProviderKind("openai_chat", OpenAIChat)
