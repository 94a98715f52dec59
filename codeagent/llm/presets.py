"""Known endpoints by the key that stands in the environment, and servers on this machine by their usual ports. Data."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

CODEAGENT_KEY = "CODEAGENT_API_KEY"
"""The variable that serves any endpoint."""
OPENAI_KEY = "OPENAI_API_KEY"
"""The variable that serves OpenAI, and by custom any endpoint that no known company owns."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider that is known by name."""

    name: str
    base_url: str
    keys: tuple[str, ...]
    """Environment variables that hold its key, the first that is set wins."""
    model: str
    """The model taken when none is named."""
    families: tuple[str, ...] = ()
    """How the names of its own models begin; aggregators have none of their own."""


_ZHIPU_KEYS = ("ZHIPUAI_API_KEY", "ZHIPU_API_KEY", "GLM_API_KEY")
PRESETS = (
    Preset("openai", "https://api.openai.com/v1", (OPENAI_KEY,), "gpt-5.1",
           ("gpt-", "chatgpt", "codex", "o1", "o3", "o4")),
    Preset("deepseek", "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), "deepseek-chat", ("deepseek",)),
    Preset("dashscope", "https://dashscope.aliyuncs.com/compatible-mode/v1", ("DASHSCOPE_API_KEY",),
           "qwen3-coder-plus", ("qwen", "qwq", "qvq")),
    Preset("moonshot", "https://api.moonshot.cn/v1", ("MOONSHOT_API_KEY", "KIMI_API_KEY"), "kimi-k2-0905-preview",
           ("kimi", "moonshot")),
    Preset("zhipu", "https://open.bigmodel.cn/api/paas/v4", _ZHIPU_KEYS, "glm-4.6", ("glm",)),
    Preset("zai", "https://api.z.ai/api/paas/v4", ("ZAI_API_KEY", "Z_AI_API_KEY"), "glm-4.6", ("glm",)),
    Preset("minimax", "https://api.minimaxi.com/v1", ("MINIMAX_API_KEY",), "MiniMax-M2", ("minimax",)),
    Preset("siliconflow", "https://api.siliconflow.cn/v1", ("SILICONFLOW_API_KEY",), "deepseek-ai/DeepSeek-V3.1"),
    Preset("ark", "https://ark.cn-beijing.volces.com/api/v3", ("ARK_API_KEY",), "doubao-seed-1-6-250615", ("doubao",)),
    Preset("anthropic", "https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",), "claude-sonnet-4-5", ("claude",)),
    Preset("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
           "gemini-2.5-pro", ("gemini", "gemma")),
    Preset("mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), "mistral-medium-latest",
           ("mistral", "ministral", "magistral", "codestral", "devstral")),
    Preset("xai", "https://api.x.ai/v1", ("XAI_API_KEY",), "grok-4", ("grok",)),
    Preset("groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), "openai/gpt-oss-120b"),
    Preset("cerebras", "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",), "gpt-oss-120b", ("gpt-oss",)),
    Preset("together", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",), "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8"),
    Preset("fireworks", "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",),
           "accounts/fireworks/models/deepseek-v3p1"),
    Preset("openrouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), "deepseek/deepseek-chat-v3.1"),
)  # fmt: skip
"""In the order in which `detect` looks."""

LOCAL = (
    Preset("ollama", "http://127.0.0.1:11434/v1", (), ""),
    Preset("llama.cpp", "http://127.0.0.1:8080/v1", (), ""),
    Preset("lmstudio", "http://127.0.0.1:1234/v1", (), ""),
    Preset("vllm", "http://127.0.0.1:8000/v1", (), ""),
)
_BY_NAME = {preset.name: preset for preset in (*PRESETS, *LOCAL)}


@dataclass(frozen=True, slots=True)
class Found:
    """An endpoint that could be used as it stands."""

    preset: Preset
    api_key: str = ""
    models: tuple[str, ...] = ()
    """What a local server offers; empty for the hosted ones."""

    @property
    def model(self) -> str:
        return self.models[0] if self.models else self.preset.model


def find(name: str) -> Preset | None:
    """The preset of that name."""
    return _BY_NAME.get(name)


def split(model: str) -> tuple[Preset | None, str]:
    """`deepseek/deepseek-chat` -> (deepseek's preset, "deepseek-chat"); a first part that is no provider stays."""
    first, slash, rest = model.partition("/")
    preset = _BY_NAME.get(first) if slash and rest else None
    return (preset, rest) if preset else (None, model)


def key_for(preset: Preset, environ: Mapping[str, str]) -> str:
    """Its key from the environment, "" when none is set."""
    return environ.get(key_source(preset, environ), "").strip()


def standing_key(preset: Preset | None, environ: Mapping[str, str]) -> tuple[str, str]:
    """The key of the environment that serves an endpoint (None: nobody's that is known), and its variable."""
    names = [CODEAGENT_KEY, *(preset.keys if preset and preset.keys else (OPENAI_KEY,))]
    return next(((key, name) for name in names if (key := environ.get(name, "").strip())), ("", ""))


def key_names() -> set[str]:
    """Every variable of the environment that a key is taken from."""
    return {CODEAGENT_KEY, OPENAI_KEY, *(name for preset in (*PRESETS, *LOCAL) for name in preset.keys)}


def detect(environ: Mapping[str, str]) -> list[Found]:
    """Every hosted provider whose key stands in the environment."""
    return [Found(preset, key) for preset in PRESETS if (key := key_for(preset, environ))]


def fitting(model: str, among: Sequence[Preset] = PRESETS) -> Preset | None:
    """The provider that makes the model of that name; the longest beginning that fits tells."""
    name = model.lower()
    fits = [(len(family), preset) for preset in among for family in preset.families if name.startswith(family)]
    return max(fits, key=lambda fit: fit[0], default=(0, None))[1]


def key_source(preset: Preset, environ: Mapping[str, str]) -> str:
    """The variable that `key_for` reads, "" when none is set."""
    return next((name for name in preset.keys if environ.get(name, "").strip()), "")


def by_url(base_url: str) -> Preset | None:
    """The preset that lives at this URL's host and port."""
    at = parts(base_url).netloc
    return next((preset for preset in (*PRESETS, *LOCAL) if parts(preset.base_url).netloc == at), None)


def parts(url: str) -> SplitResult:
    """The parts of `url`, all empty where it is none."""
    try:
        found = urlsplit(url)
        return found if found.hostname is not None else SplitResult("", "", "", "", "")
    except ValueError:
        return SplitResult("", "", "", "", "")


def key_variable(base_url: str) -> str:
    """The environment variable to set for this URL."""
    preset = by_url(base_url)
    return preset.keys[0] if preset and preset.keys else CODEAGENT_KEY


def normalise_url(text: str) -> str:
    """The base URL that was meant: with a scheme, without pasted endpoint paths and query; /v1 where it has no path.

    >>> normalise_url("localhost:8000/v1/chat/completions/")
    'http://localhost:8000/v1'
    """
    text = text.strip().strip("\"'<>")
    if not text:
        return ""
    if "://" not in text:
        text = f"{'http' if is_local(f'//{text}') else 'https'}://{text}"
    found = parts(text)
    if not found.netloc:
        return text
    path = re.sub(r"/{2,}", "/", found.path).rstrip("/")
    path = re.sub(r"(/chat)?/(completions|models|embeddings|responses)$|/chat$", "", path)
    preset = by_url(text)
    if not path:
        path = parts(preset.base_url).path if preset else "/v1"
    return urlunsplit((found.scheme.lower(), found.netloc, path, "", ""))


def is_loopback(base_url: str) -> bool:
    """Whether the URL names this machine."""
    host = parts(base_url).hostname or ""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d+)+", host) is not None


def is_local(base_url: str) -> bool:
    """Whether the URL names this machine or a private network."""
    private = r"(10|192\.168|172\.(1[6-9]|2\d|3[01]))(\.\d+)+"
    return is_loopback(base_url) or re.fullmatch(private, parts(base_url).hostname or "") is not None


async def find_local(presets: Sequence[Preset] = LOCAL, timeout: float = 0.5) -> list[Found]:
    """The servers of `presets` that answer on this machine with at least one model, asked all at once."""
    answers = await asyncio.gather(*(_ask(preset, timeout) for preset in presets))
    return [Found(preset, models=models) for preset, models in zip(presets, answers, strict=True) if models]


async def _ask(preset: Preset, timeout: float) -> tuple[str, ...]:
    at = parts(preset.base_url)
    try:
        async with asyncio.timeout(timeout):
            body = await _get(at.hostname or "", at.port or 80, f"{at.path}/models")
        return tuple(str(model["id"]) for model in json.loads(body)["data"])
    except (OSError, EOFError, TimeoutError, ValueError, LookupError, TypeError, asyncio.LimitOverrunError):
        return ()


async def _get(host: str, port: int, path: str) -> bytes:
    """The body of a plain GET; HTTP/1.0, so that it ends with the connection."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n", 1)[0] + b" ":
            return b""
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        return await (reader.readexactly(int(length[1])) if length else reader.read())
    finally:
        writer.close()
