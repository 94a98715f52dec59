"""Wordings and headers of refusals."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from codeagent.core.errors import AuthError, ContextOverflow, ModelError, ModelNotFound, Overloaded, RateLimited
from codeagent.core.ports import Endpoint
from codeagent.llm.errors import LONGEST_DETAIL, Refusal, read_error, refused, retry_after, unreachable

DEEPSEEK = Endpoint("https://api.deepseek.com/v1", "sk-secret-0123456789", "deepseek-chat")
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

OVERFLOWS = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Your input exceeds the context window of this model",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "Please reduce the length of the messages or completion",
    "This endpoint's maximum context length is 128000 tokens. However, you requested about 300000 tokens",
    "prompt token count of 130000 exceeds the limit of 128000",
    "request (20031 tokens) exceeds the available context size (8192 tokens)",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Invalid request: Your request exceeded model token limit: 262144",
    "Prompt contains 300000 tokens, too large for model with 131072 maximum context length",
    "Range of input length should be [1, 129024]",
    "Prompt exceeds max length",
    "length of prompt_tokens must be less than max_seq_len (32768)",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "prompt too long; exceeded max context length by 4 tokens",
]


@pytest.mark.parametrize("text", OVERFLOWS)
def test_every_host_has_its_words_for_an_overflow(text: str) -> None:
    assert type(refused(Refusal(400, text), DEEPSEEK)) is ContextOverflow
    assert type(refused(Refusal(429, text), DEEPSEEK)) is RateLimited


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (Refusal(400, "", "invalid_request_error context_length_exceeded"), ContextOverflow),
        (Refusal(400, "max_tokens is too large: 64000. This model supports at most 16384"), ModelError),
        (Refusal(400, "API key not valid. Please pass a valid API key."), AuthError),
        (Refusal(404, 'model "qwen3:8b" not found, try pulling it first'), ModelNotFound),
        (Refusal(404, "model: claude-x", "not_found_error"), ModelNotFound),
        (Refusal(404, "Not found the model kimi-x or Permission denied"), ModelNotFound),
        (Refusal(400, "kimi-x is not a valid model ID"), ModelNotFound),
        (Refusal(429, "余额不足或无可用资源包,请充值。", "1113"), ModelError),
        (Refusal(500, "Jinja Exception: roles must alternate"), ModelError),
        (Refusal(None, "", "server_error"), Overloaded),
        (Refusal(None, "rate limit exceeded"), RateLimited),
        (Refusal(None, "something unheard of"), ModelError),
        (Refusal(400, '"auto" tool choice requires --enable-auto-tool-choice'), ModelError),
    ],
)
def test_refusals_are_told_apart(refusal: Refusal, error: type[ModelError]) -> None:
    assert type(refused(refusal, DEEPSEEK)) is error


def test_a_refused_key_names_the_variable_to_set() -> None:
    assert str(refused(Refusal(401, "Authentication Fails"), DEEPSEEK)) == (
        "https://api.deepseek.com/v1 refused the key: status 401, Authentication Fails. "
        "Set DEEPSEEK_API_KEY or run `codeagent setup`."
    )


def test_an_endless_detail_is_cut_and_braces_do_no_harm() -> None:
    told = str(refused(Refusal(400, "{x}" * 1000), DEEPSEEK))
    assert told == f"{DEEPSEEK.base_url} refused the request: status 400, {('{x}' * 1000)[:LONGEST_DETAIL]}…."


PAGE = """<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>h1 { color: red }</style></head>
<body><center><h1>502 Bad Gateway</h1></center><hr><p>The web server
is &quot;away&quot;.</p><script>go("<p>")</script></body></html>"""


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (PAGE, 'status 502, 502 Bad Gateway The web server is "away"'),
        ("<html><head><title>Down</title></head><body></body></html>", "status 502, Down"),
        ("<html>", "status 502"),
        ("expected <name> here", "status 502, expected <name> here"),
        ("<p>" + "<script>x" * 100_000, "status 502, " + ("x " * 200)[:200] + "…"),
    ],
)
def test_a_web_page_is_told_by_its_words(page: str, told: str) -> None:
    assert str(refused(Refusal(502, page), DEEPSEEK)) == f"{DEEPSEEK.base_url} is overloaded or failing: {told}."


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, Refusal(None, "m", "t c")),
        ({"error": {"message": "m", "code": 429}}, Refusal(429, "m", " 429")),
        ({"error": "m"}, Refusal(None, "m")),
        ({"error": [{"error": {"message": "m", "code": 400, "status": "INVALID"}}]}, Refusal(400, "m", " 400")),
        ({"object": "error", "message": "m", "code": 400}, Refusal(400, "m", " 400")),
        ({"detail": "m"}, Refusal(None, "m", " ")),
        ({"code": "InvalidParameter", "message": "m"}, Refusal(None, "m", " InvalidParameter")),
        ({"choices": [], "code": 0, "message": ""}, None),
        ([{"error": {"message": "m", "code": 503}}], Refusal(503, "m", " 503")),
        ({"choices": [], "error": None}, None),
        ({"choices": [], "error": {}}, None),
        ({"id": "x"}, None),
        ("text", None),
        (None, None),
    ],
)
def test_errors_are_found_in_whichever_form(body: object, refusal: Refusal | None) -> None:
    assert read_error(body) == refusal


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"x-ratelimit-reset-requests": "1m30.5s", "x-ratelimit-reset-tokens": "250ms"}, 90.5),
        ({"x-ratelimit-reset-requests": "7"}, 7.0),
        ({"x-ratelimit-reset-tokens": "6h"}, 120.0),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_certificate_that_is_not_trusted_is_not_tried_again() -> None:
    error = unreachable("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", DEEPSEEK)
    assert type(error) is ModelError
    assert "SSL_CERT_FILE" in str(error)
