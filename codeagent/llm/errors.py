"""What an endpoint's refusal means: statuses and wordings mapped to our errors, one sentence each.

Wordings differ by host; the tables hold those that were seen in the wild. A rate limit is never taken for an overflow,
although some hosts speak of too many tokens in both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any

from codeagent.core.errors import (
    AuthError,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    NetworkError,
    Offline,
    Overloaded,
    PassingError,
    RateLimited,
)
from codeagent.core.messages import scrub
from codeagent.core.ports import Endpoint
from codeagent.llm.presets import key_variable, parts

LONGEST_DETAIL = 200
"""Characters of the endpoint's own words in one of our sentences."""
LONGEST_OBEYED = 120.0
"""Seconds; when an endpoint asks for a longer wait, nobody should sit through it."""
_KEY_LENGTH = 8
"""Characters of a key worth hiding; shorter ones are placeholders, and parts of many words."""
_PAGE = 8_000
"""Characters of a web page that are looked at."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What the endpoint answered instead of a reply."""

    status: int | None
    """HTTP status, or the number in an error that came inside a stream; None when there was none."""
    text: str
    code: str = ""
    retry_after: float | None = None


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_OVERFLOW = _any(
    r"context[_ ]length[_ ]exceeded",
    r"context[_ ]?window[_ ]?exceeded",
    r"maximum (context|prompt) length",
    r"(exceeds?|exceeded|(greater|larger|longer) than) ((the|its|this|available|maximum|max|model's) )*context",
    r"longer than the maximum model length",
    r"context (window|length|size)[^.]{0,40}(exceed|limit|too)",
    r"context (the )?overflow",
    r"(exceeds?|exceeded) (the )?(model )?(token|context|limit of \d+)",
    r"exceeds? (the )?max(imum)? (size|message tokens|allowed (input )?length)",
    r"(input|prompt)( is|'s|:)? (tokens )?too long",
    r"too long to fit into the model",
    r"tokens_too_long",
    r"prompt exceeds max",
    r"(input|prompt) (tokens?|token count|length|size)[^.]{0,60}exceed",
    r"range of input length",
    r"too large for model with \d+ maximum context",
    r"(request|payload|entity|body)( \w+)? too large",
    r"request_too_large",
    r"reduce (the length of )?(the|your) (messages|prompt|input)",
    r"tokens in request more than max tokens",
    r"`?inputs`? (tokens \+ `?max_new_tokens|must have less than)",
    r"n_keep\W.{0,20}n_ctx",
    r"max_seq_len",
    r"too many tokens",
    r"prompt 超长",
    r"(输入|上下文).{0,20}(超出|超过|超长|过长)",
)
_QUOTA = _any(
    r"insufficient[_ ](quota|balance|credit|fund)",
    r"exceeded_current_quota",
    r"quota.{0,40}billing",
    r"credit balance",
    r"arrearage",
    r"余额不足",
    r"欠费",
)
_LIMIT = _any(r"rate[_ ]?limit", r"too many requests", r"tokens per (min|day)", r"throttl")
_BUSY = _any(
    r"overloaded",
    r"at capacity",
    r"server is busy",
    r"service unavailable",
    r"temporarily unavailable",
    r"loading model",
    r"try again (later|in)",
)
_PASSING = _any(r"server_?error", r"internal error", r"internal server", r"upstream", r"timed? ?out")
"""Said inside a stream, where no status tells."""
_KEY = _any(
    r"(invalid|incorrect|missing|wrong|expired)[^.]{0,20} (api[_ -]?)?key",
    r"invalid_api_key",
    r"api key not valid",
    r"unauthorized",
)
_NO_MODEL = _any(
    r"model[_ ]not[_ ](found|exist|supported)",
    r"model\W.{0,120}\b(not found|does ?n[o']t exist|not exist|is not available)",
    r"(no|unknown|invalid|not a valid) model",
    r"not found the model",
    r"模型不存在",
)
_OFFLINE = _any(
    r"name or service not known",
    r"nodename nor servname",
    r"(failure in )?name resolution",
    r"getaddrinfo failed",
    r"no address associated",
    r"network is unreachable",
    r"network is down",
    r"no route to host",
)
_MARKUP = re.compile(r"\s*<(!doctype|\?xml|!--|(html|head|body|h\d|p|div|center|title)\b)", re.IGNORECASE)
_UNSHOWN = re.compile(r"(?is)<(script|style|head|title)\b.*?</\1\s*>|<!--.*?-->")
_TAG = re.compile(r"<[^<>]*>")
_SECRET = re.compile(r"\b(sk|gsk|xai|key)-[\w*.-]{6,}|\bAIza[\w*-]{8,}")


def refused(refusal: Refusal, endpoint: Endpoint, path: str = "/chat/completions") -> ModelError:
    """The error that says what the refusal of a request for `path` means and what to do, without the key."""
    status, words = refusal.status, f"{refusal.code} {refusal.text}"
    args: dict[str, Any] = {
        "url": endpoint.base_url,
        "model": endpoint.model,
        "detail": detail(refusal, endpoint.api_key),
    }
    if status == 402 or _QUOTA.search(words):
        return ModelError("The account at {url} has no credit or quota left: {detail}.", **args)
    # What is larger than a limit per minute (413) does not pass by waiting.
    if status == 429 or (status != 413 and _LIMIT.search(words)):
        return _passing(RateLimited, "{url} limits the rate of requests: {detail}.", refusal, args)
    if status == 401 or (status in (400, 403, None) and _KEY.search(words)):
        return _key_refused(endpoint, args)
    if status == 413 or _OVERFLOW.search(words):
        return ContextOverflow("The request is longer than the context window of {model}: {detail}.", **args)
    if _NO_MODEL.search(words) or (status == 404 and re.search(r"\bmodels?\b", words)):
        message = "{url} does not know the model {model}: {detail}. Choose another with --model or /model."
        return ModelNotFound(message, **args)
    return _by_status(refusal, words, {**args, "path": path})


def _passing(kind: type[PassingError], message: str, refusal: Refusal, args: dict[str, Any]) -> PassingError:
    """An error worth a retry; with a wait that nobody sits through it says when to come back."""
    wait = refusal.retry_after
    if wait is not None and wait > LONGEST_OBEYED:
        return kind(f"{message} Come back in {{minutes}} min.", retry_after=wait, minutes=math.ceil(wait / 60), **args)
    return kind(message, retry_after=wait, **args)


def _key_refused(endpoint: Endpoint, args: dict[str, Any]) -> AuthError:
    if endpoint.api_key and endpoint.key_source:
        message = "{url} refused the key of {source}: {detail}. Set another there or run `codeagent setup`."
        return AuthError(message, source=endpoint.key_source, **args)
    message = "{url} refused the key: {detail}. Set {variable} or run `codeagent setup`."
    if not endpoint.api_key:
        message = "{url} wants a key: {detail}. Set {variable} or run `codeagent setup`."
    return AuthError(message, variable=key_variable(endpoint.base_url), **args)


def _by_status(refusal: Refusal, words: str, args: dict[str, Any]) -> ModelError:
    status = refusal.status
    if "enable-auto-tool-choice" in words:
        message = "vLLM at {url} serves no tools: start it with --enable-auto-tool-choice and --tool-call-parser."
        return ModelError(message, **args)
    if "jinja" in words.lower():
        return ModelError("The chat template of {model} at {url} refused the request: {detail}.", **args)
    passing = _PASSING.search(words) is not None if status is None else status >= 500 or status in (408, 409, 425)
    if passing or _BUSY.search(words):
        return _passing(Overloaded, "{url} is overloaded or failing: {detail}.", refusal, args)
    if status in (404, 405):
        return ModelError("There is no {path} at {url}: {detail}. Check the base URL.", **args)
    if status == 403:
        return ModelError("{url} does not permit the request: {detail}.", **args)
    return ModelError("{url} refused the request: {detail}.", **args)


def detail(refusal: Refusal, key: str) -> str:
    """The endpoint's own words on one line: bounded, without control characters and without the key."""
    text = _tell(refusal.text, key)
    status = f"status {refusal.status}" if refusal.status is not None else "error"
    return f"{status}, {text.rstrip('.')}" if text else status


def _tell(text: str, key: str) -> str:
    text = scrub(text.replace(key, "***") if len(key) >= _KEY_LENGTH else text)
    text = _words(text[:_PAGE]) if _MARKUP.match(text) else text
    text = _SECRET.sub("***", " ".join("".join(char if char.isprintable() else " " for char in text).split()))
    return text if len(text) <= LONGEST_DETAIL else text[:LONGEST_DETAIL] + "…"


def _words(page: str) -> str:
    """What a web page says: its body, or its title where there is nothing else."""
    title = re.search(r"(?is)<title[^>]*>(.*?)</title>", page)
    body = _TAG.sub(" ", _UNSHOWN.sub(" ", page))
    return unescape(body if body.strip() or title is None else title[1])


def read_error(body: object) -> Refusal | None:
    """The error that a JSON body or a chunk of a stream holds, in whichever form; None when it is none."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    error = body.get("error") or None
    if isinstance(error, list):
        return read_error(error)
    if isinstance(error, str) and error:
        return Refusal(_number(body.get("code")), error)
    source = error if isinstance(error, Mapping) else body
    bare = not isinstance(error, Mapping) and (
        body.get("choices") is not None or not (body.get("object") == "error" or "code" in body or "detail" in body)
    )
    if bare:
        return None
    text = next((str(source[key]) for key in ("message", "msg", "detail") if source.get(key)), "")
    code = str(source.get("code") or "")
    return Refusal(
        _number(source.get("code")), text or str(source.get("type") or ""), f"{source.get('type', '')} {code}"
    )


def _number(code: object) -> int | None:
    """An HTTP status that stands in the body."""
    text = str(code)
    return int(text) if text.isdigit() and 400 <= int(text) < 600 else None


def check(endpoint: Endpoint) -> None:
    """Refuse what no request can be made of.

    Raises:
        ModelError: the base URL is none, or the key holds what cannot stand in a header.
    """
    at = parts(endpoint.base_url)
    if at.scheme not in ("http", "https") or any(char.isspace() for char in endpoint.base_url):
        raise ModelError("The base URL {url} cannot be used.", url=endpoint.base_url)
    if not endpoint.api_key.isascii() or not endpoint.api_key.isprintable():
        message = "The key for {url} holds characters that no key has. Set {variable} anew or run `codeagent setup`."
        raise AuthError(message, url=endpoint.base_url, variable=key_variable(endpoint.base_url))


def unreachable(reason: str, endpoint: Endpoint) -> ModelError:
    """No connection came about, or it broke before an answer began."""
    args: dict[str, Any] = {
        "url": endpoint.base_url,
        "reason": _tell(reason, endpoint.api_key).rstrip(".") or "no reason given",
    }
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        message = "The certificate of {url} is not trusted: {reason}. Point SSL_CERT_FILE at the authority's file."
        return ModelError(message, **args)
    if _OFFLINE.search(reason):
        return Offline("There is no way to {url}: {reason}. Is this machine online, and is the address right?", **args)
    return NetworkError("{url} cannot be reached: {reason}. Check the connection and the base URL.", **args)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait as the headers (lower-case names) ask: milliseconds, seconds, a date, or a reset time."""
    if (wait := _float(headers.get("retry-after-ms"))) is not None:
        return wait / 1000
    named = headers.get("retry-after")
    if named is not None:
        return _float(named) if _float(named) is not None else _until(named, now)
    resets = (headers.get(f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens"))
    waits = [wait for reset in resets if reset and (wait := _duration(reset)) is not None]
    # When the whole allowance is back; the next request may well pass before.
    return min(max(waits), LONGEST_OBEYED) if waits else None


def _float(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(date: str, now: datetime) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _duration(text: str) -> float | None:
    """Seconds of "1m30.5s", "250ms" or "12"."""
    if (plain := _float(text)) is not None:
        return plain
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", text)
    scale = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    return sum(float(number) * scale[unit] for number, unit in parts) if parts else None
