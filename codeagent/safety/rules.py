"""Permission rules: `shell`, `shell(git status)`, `shell(npm test:*)`, `edit_file(src/**)`, `web_fetch(domain:x.org)`.

A bare name covers every call of the tool. In parentheses: for commands the exact text, or a beginning followed by `:*`;
for paths a pattern as in .gitignore, relative to the roots, or absolute; for addresses `domain:` and a host, which
covers what is below it. A rule for `edit_file` covers every tool that
changes files. Allowing by a beginning never covers a compound command; forbidding looks into one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from codeagent.core.errors import ConfigError
from codeagent.core.tools import Action
from codeagent.core.web import ascii_host, host_of
from codeagent.safety.commands import compound, parts
from codeagent.safety.places import real

_DOMAIN = "domain:"
_RULE = re.compile(r"\s*([\w.*-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """`tool` and, for a part of its calls, what their subject must be like."""

    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Rules from their texts; empty ones are skipped.

    Raises:
        ConfigError: a text is no rule.
    """
    rules = []
    for text in texts:
        if not text.strip():
            continue
        read = _RULE.fullmatch(text)
        if read is None:
            raise ConfigError(
                "{rule} is no permission rule.", rule=text, hint="Write tool or tool(...), as in shell(npm test:*)."
            )
        pattern = read[2].strip() if read[2] is not None else None
        rules.append(Rule(read[1], None if pattern in ("", "*") else pattern))
    return tuple(rules)


def allows(rules: Iterable[Rule], action: Action, roots: Sequence[Path]) -> bool:
    """Whether one of `rules` covers all of what `action` does."""
    return any(_names(rule, action) and _covers(rule.pattern, action, roots) for rule in rules)


def forbids(rules: Iterable[Rule], action: Action, roots: Sequence[Path]) -> Rule | None:
    """The first of `rules` that meets anything of what `action` does."""
    for rule in rules:
        if _names(rule, action) and (_covers(rule.pattern, action, roots) or _meets(rule.pattern, action)):
            return rule
    return None


def within(host: str, domain: str) -> bool:
    """Whether `host` is `domain` or below it."""
    return host == domain or (bool(domain) and host.endswith(f".{domain}"))


def _names(rule: Rule, action: Action) -> bool:
    if rule.tool == action.tool or (rule.tool == "edit_file" and action.kind == "edit"):
        return True
    return rule.tool.startswith("mcp__") and (
        action.tool.startswith(f"{rule.tool}__") or (rule.tool.endswith("*") and action.tool.startswith(rule.tool[:-1]))
    )


def _covers(pattern: str | None, action: Action, roots: Sequence[Path]) -> bool:
    if pattern is None:
        return True
    if action.kind in ("read", "edit"):
        return _fits_path(pattern, real(action.subject), roots)
    if action.kind == "web":
        return pattern.startswith(_DOMAIN) and within(host_of(action.subject), ascii_host(pattern[len(_DOMAIN) :]))
    command = action.subject.strip()
    if pattern.endswith(":*"):
        return _begins(command, pattern[:-2]) and not compound(command)
    return command == pattern


def _meets(pattern: str | None, action: Action) -> bool:
    if pattern is None or action.kind != "run":
        return False
    if pattern.endswith(":*"):
        return any(_begins(part, pattern[:-2]) for part in parts(action.subject))
    return pattern in parts(action.subject)


def _begins(command: str, prefix: str) -> bool:
    words, wanted = command.split(), prefix.split()
    return words[: len(wanted)] == wanted


def _fits_path(pattern: str, path: Path, roots: Sequence[Path]) -> bool:
    spec = GitIgnoreSpec.from_lines([pattern])
    bases = [Path(path.anchor)] if pattern.startswith("/") else roots
    return any(spec.match_file(path.relative_to(base).as_posix()) for base in bases if path.is_relative_to(base))
