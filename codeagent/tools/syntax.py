"""Whether a file's text can be read by what reads such files: Python, JSON, TOML, YAML."""

from __future__ import annotations

import json
import platform
import re
import tomllib
import warnings
from collections.abc import Callable
from pathlib import PurePath

LARGEST = 1_000_000
"""Characters of a text that is checked."""
_COMMENTS = re.compile(r"^\s*(?://|/\*)", re.MULTILINE)


def broken(path: str, before: str | None, after: str) -> str:
    """One sentence when `after` cannot be read although `before` could (or there was nothing), else ""."""
    check = _CHECKS.get(PurePath(path).suffix.lower())
    if check is None or len(after) > LARGEST or not (fault := _fault(check, after)):
        return ""
    if before is not None and (len(before) > LARGEST or _fault(check, before)):
        return ""
    return f"{path} is not valid {fault}."


def _fault(check: Callable[[str], str], text: str) -> str:
    try:
        return check(text.removeprefix("\ufeff"))
    except (RecursionError, MemoryError):
        return ""  # too deep to judge


def _python(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an odd escape: no business of ours
            compile(text, "", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"Python {'.'.join(platform.python_version_tuple()[:2])}: {error.msg}, line {error.lineno}"
    except ValueError as error:
        return f"Python: {error}"
    return ""


def _json(text: str) -> str:
    try:
        json.loads(text)
    except ValueError as error:
        # Many tools allow comments in their settings.
        return "" if _COMMENTS.search(text) else f"JSON: {error}"
    return ""


def _toml(text: str) -> str:
    try:
        tomllib.loads(text.replace("\r\n", "\n"))
    except ValueError as error:
        return f"TOML: {error}"
    return ""


def _yaml(text: str) -> str:
    import yaml  # 20 ms: for the few who edit such files

    if "{{" in text or "{%" in text:
        return ""  # a template, which becomes YAML later
    try:
        for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.MarkedYAMLError as error:
        # What is missing at the end is told of the line after the last one.
        last = text.count("\n") + (not text.endswith("\n"))
        where = f", line {min(error.problem_mark.line + 1, last)}" if error.problem_mark else ""
        return f"YAML: {error.problem}{where}"
    except yaml.YAMLError as error:
        return f"YAML: {' '.join(str(error).split())[:200]}"
    return ""


_CHECKS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": _json,
    ".ipynb": _json,
    ".toml": _toml,
    ".yaml": _yaml,
    ".yml": _yaml,
}
