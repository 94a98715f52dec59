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
    # OpenAI and Azure
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce "
    "the length of the messages.",
    "This model's maximum context length is 8192 tokens. However, you requested 8213 tokens (6683 in the messages, 730 "
    "in the functions, and 800 in the completion). Please reduce the length of the messages, functions, or completion.",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 283000 tokens.",
    # Anthropic and those that speak its words
    "prompt is too long: 213462 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "Request exceeds the maximum size",
    "Input is too long for requested model.",
    # Gemini, Grok, Copilot, Cohere
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    "prompt token count of 130000 exceeds the limit of 128000",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5291.",
    # DeepSeek, DashScope, Kimi, GLM, MiniMax, Doubao, UCloud
    "This model's maximum context length is 65536 tokens. However, you requested 69648 tokens (69648 in the messages, "
    "0 in the completion). Please reduce the length of the messages or completion.",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "Invalid request: Your request exceeded model token limit: 262144",
    "Prompt exceeds max length",
    "Prompt 超长",
    "tokens in request more than max tokens allowed",
    "invalid params, context window exceeds limit",
    "Total tokens of image and text exceed max message tokens.",
    "Prompt tokens too long",
    "输入的 token 数超过模型上限",
    "上下文长度超出限制",
    # OpenRouter, Groq, Cerebras, Mistral, Fireworks, Poolside
    "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text "
    'input). Please reduce the length of either one, or use the "middle-out" transform',
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 65536 maximum context length",
    "The prompt is too long: 140000, model maximum context length: 131071",
    "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
    # vLLM and SGLang
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt "
    "contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens "
    "and your request has 2104 input tokens (2000 > 4096 - 2104).",
    "The decoder prompt (length 163840) is longer than the maximum model length of 131072.",
    "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
    "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
    # llama.cpp, Ollama, LM Studio, LocalAI, TGI, LiteLLM, others
    "request (20031 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "Requested tokens (5120) exceed context window of 4096",
    "prompt too long; exceeded max context length by 4 tokens",
    "the input length exceeds the context length",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)",
    "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context "
    "length of only 7866 tokens, which is not enough.",
    "The prompt size exceeds the context window size and cannot be processed.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 1872",
    "litellm.ContextWindowExceededError: litellm.BadRequestError: no words",
    "length of prompt_tokens must be less than max_seq_len (32768)",
    "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)",
    "Prompt tokens (40000) exceeds context size (32768)",
    # servers in front of them
    "Request too large: 413 payload",
    "Request Entity Too Large",
    "request body too large",
]
OTHERS = [
    (400, "max_tokens is too large: 64000. This model supports at most 16384 completion tokens", ModelError),
    (400, "max_tokens: 8193 > 8192, which is the maximum allowed number of output tokens for this model", ModelError),
    (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", ModelError),
    (400, "Range of max_tokens should be [1, 8192]", ModelError),
    (400, "max_tokens must be less than or equal to 16384, the maximum value for max_tokens is less than the "
     "context_window for this model", ModelError),
    (400, "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a "
     "value <= 32768, but got 65536", ModelError),
    (400, "Unsupported parameter: 'max_tokens' is not supported with this model.", ModelError),
    (400, "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
     ModelError),
    (400, "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
     ModelError),
    (400, "Too many tokens per day, please wait before trying again.", RateLimited),
    (503, "Too many tokens, please wait: throttled", RateLimited),
    (400, "Tokens per minute limit exceeded - too many tokens processed.", RateLimited),
    (None, "Rate limit reached on tokens per min (TPM): Limit 6000, Used 5034, Requested 1443.", RateLimited),
    (403, "You have exceeded the token rate limit of your pricing tier.", RateLimited),
]  # fmt: skip
"""Words that are near, and mean the output, a picture, a name, or how much may be asked in a while."""


@pytest.mark.parametrize("text", OVERFLOWS)
def test_every_host_has_its_words_for_an_overflow(text: str) -> None:
    assert type(refused(Refusal(400, text), DEEPSEEK)) is ContextOverflow
    assert type(refused(Refusal(429, text), DEEPSEEK)) is RateLimited


@pytest.mark.parametrize(("status", "text", "error"), OTHERS)
def test_near_words_are_no_overflow(status: int | None, text: str, error: type[ModelError]) -> None:
    assert type(refused(Refusal(status, text), DEEPSEEK)) is error


def test_what_is_larger_than_a_limit_per_minute_has_to_shrink() -> None:
    text = "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 14810"
    assert type(refused(Refusal(413, text, "tokens rate_limit_exceeded"), DEEPSEEK)) is ContextOverflow


@pytest.mark.parametrize(
    ("refusal", "error"),
    [
        (Refusal(400, "", "invalid_request_error context_length_exceeded"), ContextOverflow),
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
