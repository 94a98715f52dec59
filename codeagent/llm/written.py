"""Tool calls that a model wrote as text, because its server did not part them: the forms that were seen in the wild.

A block is one or more calls and nothing else. Only names of tools that were offered count; a block that is cut, or
followed by other words, is no call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from codeagent.core import loose_json

MARKS = (
    *("<tool_call>", "<function=", "<function_calls>", "<invoke name=", "<minimax:tool_call>", "<seed:tool_call>"),
    *("[TOOL_CALLS]", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜DSML｜", "<|tool_calls_section_begin|>"),
)
"""How such blocks begin."""
_FENCED = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Written:
    """A call by name and arguments; these are JSON text."""

    name: str
    arguments: str


class _No(Exception):
    """The block is none of this form."""


_Form = Callable[[str, int], tuple[list[tuple[str, Any]], int]]
"""(text, place) -> the calls that begin there, and where they end."""


def read_block(text: str, names: Collection[str]) -> list[Written]:
    """The calls that `text` consists of; [] where it is anything else, or a name is unknown."""
    text, at, found = text.rstrip(), 0, []
    while at < len(text):
        step = _first_form(text, at)
        if step is None:
            return []
        calls, end = step
        found += calls
        at = _skip(text, end)
    if not all(name in names for name, _ in found):
        return []
    return [Written(name, _as_json(arguments)) for name, arguments in found]


def bare_block(text: str, names: Collection[str]) -> tuple[str, list[Written]]:
    """What stands before a JSON object, fenced or alone, that is a call at the end of `text`; and that call."""
    fenced = _FENCED.search(text)
    start = fenced.start() if fenced else 0
    try:
        calls = _named(loose_json.read(fenced[1] if fenced else text))
    except (ValueError, _No):
        return text, []
    if not all(name in names for name, _ in calls):
        return text, []
    return text[:start], [Written(name, _as_json(arguments)) for name, arguments in calls]


def _first_form(text: str, at: int) -> tuple[list[tuple[str, Any]], int] | None:
    for form in _FORMS:
        try:
            return form(text, at)
        except (_No, ValueError):
            continue
    return None


def _as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _named(value: Any) -> list[tuple[str, Any]]:
    """Calls given as objects that name themselves."""
    calls = []
    for one in value if isinstance(value, list) else [value]:
        inner = one.get("function") if isinstance(one, dict) and isinstance(one.get("function"), dict) else one
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            raise _No
        key = "arguments" if "arguments" in inner else "parameters"
        if key not in inner and len(inner) > 1:
            raise _No
        calls.append((inner["name"], inner.get(key) or {}))
    if not calls:
        raise _No
    return calls


def _match(pattern: str, text: str, at: int) -> re.Match[str]:
    found = re.compile(pattern, re.DOTALL).match(text, at)
    if found is None:
        raise _No
    return found


def _skip(text: str, at: int) -> int:
    return _match(r"\s*", text, at).end()


def _hermes(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """`<tool_call>{"name": …, "arguments": …}</tool_call>`."""
    start = _match(r"<tool_call>\s*", text, at).end()
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        end = text.find("</tool_call>", start)
        value = loose_json.read(text[start:end]) if end > 0 else None
    return _named(value), _match(r"\s*</tool_call>", text, end).end()


_PARAMETER = r"\s*<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>"


def _qwen(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """`<function=name><parameter=key>value</parameter></function>`, which may stand in a tag of its own."""
    head = _match(r"(?:<(?:seed:)?tool_call>\s*)?<function=([\w.:-]+)>", text, at)
    given, end = _pairs(_PARAMETER, text, head.end())
    return [(head[1], given)], _match(r"\s*</function>(?:\s*</(?:seed:)?tool_call>)?", text, end).end()


def _glm(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """`<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`."""
    head = _match(r"<tool_call>\s*([\w.:-]+)\s*(?=<)", text, at)
    pair = r"\s*<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>"
    given, end = _pairs(pair, text, head.end())
    return [(head[1], given)], _match(r"\s*</tool_call>", text, end).end()


def _pairs(pattern: str, text: str, at: int) -> tuple[dict[str, str], int]:
    given: dict[str, str] = {}
    compiled = re.compile(pattern, re.DOTALL)
    while (found := compiled.match(text, at)) is not None:
        given[found[1]], at = found[2], found.end()
    return given, at


def _invoke(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """`<invoke name="…"><parameter name="…">value</parameter></invoke>`, also with DeepSeek's marks, in a wrapper."""
    wrapper = _match(r"<((?:｜DSML｜)?(?:function_calls|tool_calls)|minimax:tool_call)>\s*|", text, at)
    calls, at = [], wrapper.end()
    pair = r'\s*<(?:｜DSML｜)?parameter name="([\w.-]+)"[^>]*>(.*?)</(?:｜DSML｜)?parameter>'
    while (head := re.compile(r'<(?:｜DSML｜)?invoke name="([\w.:-]+)"\s*>').match(text, at)) is not None:
        given, end = _pairs(pair, text, head.end())
        at = _skip(text, _match(r"\s*</(?:｜DSML｜)?invoke>", text, end).end())
        calls.append((head[1], given))
    if not calls:
        raise _No
    return calls, _match(f"</{re.escape(wrapper[1])}>" if wrapper[1] else "", text, at).end()


def _mistral(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """`[TOOL_CALLS][{…}]`, or `[TOOL_CALLS]name{…}`, with `[ARGS]` between in some versions."""
    start = _match(r"\[TOOL_CALLS\]\s*", text, at).end()
    if text[start : start + 1] == "[":
        value, end = _DECODER.raw_decode(text, start)
        return _named(value), end
    head = _match(r"([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)", text, start)
    value, end = _DECODER.raw_decode(text, head.end())
    return [(head[1], value)], end


def _deepseek(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """DeepSeek's marks around name and JSON, which stands in a fence in the older versions."""
    wrapper = _match(r"(<｜tool▁calls▁begin｜>)?\s*", text, at)
    calls, at = [], wrapper.end()
    old = r"(?:function<｜tool▁sep｜>([\w.-]+)\s*```json\s*|([\w.-]+)<｜tool▁sep｜>\s*)(?=\{)"
    while text.startswith("<｜tool▁call▁begin｜>", at):
        head = _match(f"<｜tool▁call▁begin｜>{old}", text, at)
        value, end = _DECODER.raw_decode(text, head.end())
        at = _match(r"\s*(?:```)?\s*<｜tool▁call▁end｜>\s*", text, end).end()
        calls.append((head[1] or head[2], value))
    if not calls:
        raise _No
    return calls, _match(r"<｜tool▁calls▁end｜>(?:<｜end▁of▁sentence｜>)?" if wrapper[1] else "", text, at).end()


def _kimi(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """Kimi's section with ids that hold the name."""
    at = _match(r"<\|tool_calls_section_begin\|>\s*", text, at).end()
    calls = []
    while text.startswith("<|tool_call_begin|>", at):
        name = r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*"
        head = _match(name + r"<\|tool_call_argument_begin\|>\s*", text, at)
        value, end = _DECODER.raw_decode(text, head.end())
        at = _match(r"\s*<\|tool_call_end\|>\s*", text, end).end()
        calls.append((head[1], value))
    if not calls:
        raise _No
    return calls, _match(r"<\|tool_calls_section_end\|>", text, at).end()


_FORMS: tuple[_Form, ...] = (_hermes, _qwen, _glm, _invoke, _mistral, _deepseek, _kimi)
