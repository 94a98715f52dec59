"""What is sent where, and what is left out after a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codeagent.core.ports import Endpoint, Request
from codeagent.llm.profiles import Profile, body, profile_for


def fields(base_url: str, model: str, **asked: Any) -> dict[str, Any]:
    """The body's fields beside model, stream and messages."""
    profile = profile_for(base_url, model)
    sent: dict[str, Any] = json.loads(body(Request(model, (), **asked), Endpoint(base_url, "", model), profile))
    assert (sent.pop("model"), sent.pop("stream"), sent.pop("messages")) == (model, True, [])
    return sent


USAGE = {"stream_options": {"include_usage": True}}


@pytest.mark.parametrize(
    ("base_url", "model", "sent"),
    [
        ("https://api.openai.com/v1", "gpt-5.1", {**USAGE, "max_completion_tokens": 9, "reasoning_effort": "low"}),
        ("https://api.openai.com/v1", "gpt-4.1", {**USAGE, "max_completion_tokens": 9}),
        ("https://api.deepseek.com/v1", "deepseek-chat", {**USAGE, "max_tokens": 9, "thinking": {"type": "disabled"}}),
        ("https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-plus",
         {**USAGE, "max_tokens": 9, "enable_thinking": False}),
        ("https://openrouter.ai/api/v1", "x/y", {**USAGE, "max_tokens": 9, "reasoning": {"effort": "low"}}),
        ("https://api.mistral.ai/v1", "codestral", {"max_tokens": 9}),
        ("http://127.0.0.1:8000/v1", "anything", {**USAGE, "max_tokens": 9}),
    ],
)  # fmt: skip
def test_bodies_are_minimal_and_as_each_host_wants_them(base_url: str, model: str, sent: dict[str, Any]) -> None:
    assert fields(base_url, model, max_tokens=9, effort="low") == sent


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    assert fields("https://api.deepseek.com/v1", "deepseek-chat") == USAGE


def test_reasoning_is_echoed_where_it_must_be() -> None:
    echoed = [
        profile_for(url, model).shape.echo_reasoning
        for url, model in [
            ("https://api.deepseek.com/v1", "deepseek-reasoner"),
            ("https://api.moonshot.cn/v1", "kimi-k2-thinking"),
            ("http://10.0.0.1/v1", "moonshotai/Kimi-K2-Thinking"),
            ("https://api.openai.com/v1", "gpt-5.1"),
            ("https://api.groq.com/openai/v1", "moonshotai/kimi-k2"),
        ]
    ]
    assert echoed == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("profile", "complaint", "leaner"),
    [
        (Profile(), "Unrecognized request argument: stream_options", Profile(usage=False)),
        (Profile(usage=False), "Unrecognized request argument: stream_options", None),
        (Profile(), "'max_tokens' is not supported, use 'max_completion_tokens' instead",
         Profile(limit="max_completion_tokens")),
        (Profile(limit="max_completion_tokens"), "max_completion_tokens: not permitted", Profile(limit=None)),
        (Profile(efforts={"low": {"thinking": 1}}), "unknown field `thinking`", Profile()),
        (Profile(efforts={"low": {"thinking": 1}}), "thinking_budget is out of range", None),
        (Profile(), "messages: field required", None),
        (Profile(efforts={"low": {"thinking": 1}}),
         "The `reasoning_content` in the thinking mode must be passed back to the API.",
         Profile(efforts={"low": {"thinking": 1}}, thoughts="always")),
        (Profile(), "unknown field `reasoning_content`", Profile(thoughts="never")),
        (Profile(), "After the optional system message, conversation roles must alternate", Profile(alternate=True)),
        (Profile(), "Unexpected role 'user' after role 'tool'", Profile(alternate=True)),
        (Profile(), "messages.1.tool_calls.0.id: string should match pattern '^[a-zA-Z0-9_-]+$'", Profile(ids="short")),
        (Profile(), "messages[2].tool_calls[0].id: string too long. Expected a string with maximum length 40",
         Profile(ids="short")),
        (Profile(), "Invalid schema for function 'f': $ref is not supported", Profile(plain_schemas=True)),
    ],
)  # fmt: skip
def test_a_complaint_drops_the_field_it_names(profile: Profile, complaint: str, leaner: Profile | None) -> None:
    assert profile.without(complaint) == leaner


@pytest.mark.parametrize(
    ("model", "sees"),
    [
        ("gpt-5.1", True),
        ("gpt-4o-mini", True),
        ("claude-sonnet-4-5", True),
        ("some-model-nobody-knows", True),
        ("qwen3-vl-plus", True),
        ("Qwen/Qwen2.5-VL-72B-Instruct", True),
        ("qwen3.5-plus", True),
        ("kimi-k2.5", True),
        ("glm-4.5v", True),
        ("llama3.2-vision:11b", True),
        ("deepseek-ai/deepseek-vl2", True),
        ("deepseek-chat", False),
        ("deepseek-ai/DeepSeek-V3.1", False),
        ("qwen3-coder-plus", False),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", False),
        ("qwen3:8b", False),
        ("qwen2.5-coder:32b", False),
        ("kimi-k2-0905-preview", False),
        ("glm-4.6", False),
        ("openai/gpt-oss-120b", False),
        ("MiniMax-M2", False),
        ("codestral-latest", False),
        ("meta-llama/Llama-3.3-70B-Instruct", False),
    ],
)
def test_families_without_eyes_are_known(model: str, sees: bool) -> None:
    assert profile_for("http://127.0.0.1:8000/v1", model).vision == sees


@pytest.mark.parametrize(
    "complaint",
    [
        "messages[1]: unknown variant `image_url`, expected `text`",
        "No endpoints found that support image input",
        "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        "This model does not support multimodal input",
        "messages.1.content must be a string",
        "content: Input should be a valid string",
        "At most 0 image(s) may be provided in one prompt.",
    ],
)
def test_a_complaint_about_pictures_drops_them_where_there_were_some(complaint: str) -> None:
    assert Profile().without(complaint, pictures=True) == Profile(vision=False)
    assert Profile(vision=False, nulls=False).without(complaint, pictures=True) is None
    assert Profile(nulls=False).without(complaint) is None


@pytest.mark.parametrize(
    ("model", "patches"),
    [
        ("gpt-5.2", True),
        ("openai/gpt-5-mini", True),
        ("GPT-6", True),
        ("codex-mini-latest", True),
        ("gpt-5.1-codex", True),
        ("gpt-4.1", False),
        ("gpt-oss-120b", False),
        ("deepseek-chat", False),
        ("qwen3-coder", False),
    ],
)
def test_families_that_were_trained_on_patches_are_known(model: str, patches: bool) -> None:
    assert profile_for("https://any.example/v1", model).patches is patches
