"""Markdown files with a head: `key: value` lines between two lines of dashes, as YAML writes the simple ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEAD = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")


def split(text: str) -> tuple[dict[str, str], str]:
    """(values of the head, the text behind it). Lines of a list, and indented ones, join the key above them; a colon in
    a value needs no quotes."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = _HEAD.match(text)
    if found is None:
        return {}, text.strip()
    head: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in found[1].split("\n"):
        if key := _LINE.fullmatch(line.rstrip()):
            lines = head[key[1].lower()] = [key[2] or ""]
        elif line.strip() and not line.lstrip().startswith("#"):
            lines.append(line.strip())
    return {key: _value(lines) for key, lines in head.items()}, text[found.end() :].strip()


def _value(lines: Sequence[str]) -> str:
    first, *more = lines
    if more and all(line.startswith("- ") for line in more):
        return ", ".join(_unquoted(line[2:]) for line in more)
    return " ".join(_unquoted(part) for part in ("" if first in ("|", ">", "|-", ">-") else first, *more) if part)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def items(value: str) -> tuple[str, ...]:
    """The parts of a list: `a, b` or `[a, b]`."""
    return tuple(part for raw in value.strip("[] ").split(",") if (part := _unquoted(raw)))
