"""Agent runs to replay: recorded ones from a file, or made ones; and texts of every class."""

from __future__ import annotations

import argparse
import difflib
import hashlib
import inspect
import json
import random
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeagent.core.entries import Entry, Origin, Prompt, Usage
from codeagent.core.messages import Message, UserMessage, encode_json
from codeagent.core.ports import Estimate

_ORIGIN: dict[str, Origin] = {"user": "user", "assistant": "model", "tool": "tool"}
_PIECES = re.compile(r"\s*[A-Za-z]{1,7}|\d{1,2}|[\u3040-\uffdf]|\s+|[^\w\s]{1,2}|.")


@dataclass(frozen=True)
class Anchor:
    usage: Usage
    entries: int


@dataclass
class Run:
    """A recorded run as the meter sees it while it grows: `entries` up to the next request."""

    prompt: Prompt
    all: list[Entry]
    counts: list[tuple[int, int]]
    """(number of entries, the provider's count) of each request."""
    entries: list[Entry]
    anchor: Anchor | None = None

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)


def recorded(path: Path, estimate: Estimate) -> list[Run]:
    """The runs of a file: messages in chat-completions form, and the provider's count for each reply."""
    return [_run(json.loads(line), estimate) for line in path.read_text(encoding="utf-8").splitlines()]


def made(estimate: Estimate, runs: int = 12) -> list[Run]:
    """Runs of our own, counted by a tokenizer of our own that agrees with none of the estimators."""
    return [_run(_made(number), estimate) for number in range(runs)]


def _run(raw: dict[str, Any], estimate: Estimate) -> Run:
    system, *messages = raw["messages"]
    entries = []
    for number, message in enumerate(messages, 1):
        wire = encode_json(message)
        said: Message = UserMessage(message.get("content") or "")
        entries.append(Entry(f"m{number}", 1, said, wire, estimate(wire), _ORIGIN[message["role"]]))
    counts = [(usage["message"] - 1, usage["prompt_tokens"]) for usage in raw["usage"]]
    return Run(Prompt(system["content"]), entries, counts, [])


def _made(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    texts = list(classes(seed).values())
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a coding agent. " * 40},
        {"role": "user", "content": "Find out why the test fails; mend it. Never touch vendor/. 不要改 migrations/。"},
    ]
    usage = []
    for step in range(40):
        usage.append({"message": len(messages), "prompt_tokens": sum(map(_count, messages))})
        arguments = json.dumps({"command": f"python -m pytest tests/part_{step}/test_{seed}.py"})
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "shell", "arguments": arguments}}
        messages.append({"role": "assistant", "content": texts[0][:200], "tool_calls": [call]})
        text, start = chance.choice(texts), chance.randrange(500)
        failed = f"src/part_{step}/model.py:{step}: test_case_{step}\nValueError: {step * 7919} is out of range\n"
        result = failed + text[start : start + 1500]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"messages": messages, "usage": usage}


def _count(message: dict[str, Any]) -> int:
    calls = json.dumps(message.get("tool_calls", ""))
    return 8 + round(1.1 * (len(_PIECES.findall(message["content"])) + len(_PIECES.findall(calls))))


def classes(seed: int = 0) -> dict[str, str]:
    """A text of each class."""
    chance = random.Random(seed)
    code = "".join(map(inspect.getsource, (argparse, difflib, inspect)))
    lines = code.splitlines(keepends=True)
    changed = [line.replace("self", "this") if chance.random() < 0.1 else line for line in lines]
    rows = [{"id": n, "name": f"user_{n}", "score": round(chance.random(), 3), "tags": ["new"]} for n in range(150)]
    return {
        "prose": " ".join(inspect.cleandoc(item.__doc__ or "") for item in (difflib, random, random.Random, re, uuid))
        * 3,
        "code": code,
        "diff": "".join(difflib.unified_diff(lines, changed)),
        "json": json.dumps(rows, indent=2),
        "json, compact": json.dumps(rows, separators=(",", ":")),
        "log with ids": "".join(_log_line(chance, n) for n in range(120)),
        "csv": "".join(",".join(f"{chance.uniform(-1e3, 1e3):.3f}" for _ in range(6)) + "\n" for _ in range(150)),
        "chinese": "上下文会消失，磁盘不会：重要的事情要写下来，由代码载入，而不是靠模型的自觉。" * 60,
        "japanese": "文脈が圧縮される前と後で同じように振る舞います。大切なことは書いておき、次の日に読み込みます。"
        * 60,
        "korean": "컨텍스트는 사라지지만 디스크는 남습니다. 중요한 내용은 기록하고 다음 날 다시 불러옵니다. " * 60,
        "emoji": "".join(chance.choice("😀😂🎉🚀✅❌🔥👍🙏💡📦🐛✨🔧📝⚡🚨💥🎨🤔") for _ in range(800)),
    }


def _log_line(chance: random.Random, number: int) -> str:
    id = uuid.UUID(int=chance.getrandbits(128))
    digest = hashlib.sha1(str(number).encode()).hexdigest()
    return f"2026-05-01T12:{number % 60:02}:07.{chance.randrange(1000):03}Z INFO [api] id={id} sha={digest} 200 ok\n"
