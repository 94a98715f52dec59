"""Sections into one system prompt, and the sections that always stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from codeagent.core.agents import AgentKind
from codeagent.core.sections import ENVIRONMENT as TITLE
from codeagent.core.sections import Section

AGENTS_ROOM, AGENTS_LINE = 4_000, 400
"""Characters for all descriptions of subagents, and for one."""
SYSTEM, AGENTS, OVERVIEW, ENVIRONMENT, CHANGED = 0, 210, 250, 300, 450
"""Order of the standing sections; project context stands between them, facts and changed files stand last."""


def build_prompt(sections: Iterable[Section | None]) -> str:
    """The system text: sections by their order, those without a body and None left out."""
    present = (section for section in sections if section is not None and section.body.strip())
    return "\n\n".join(section.render() for section in sorted(present, key=lambda section: section.order))


def system_section(*, terse: bool = False) -> Section:
    """Who the agent is and how it works: the same in every session of this version, `terse` in small windows."""
    text = Path(__file__).with_name("terse.md" if terse else "system.md").read_text(encoding="utf-8")
    return Section("system", text.strip(), order=SYSTEM)


def subagent_section(prompt: str) -> Section:
    """Who a subagent is, and how one of its kind works."""
    text = Path(__file__).with_name("subagent.md").read_text(encoding="utf-8")
    return Section("system", f"{text.strip()}\n\n{prompt}", order=SYSTEM)


def agents_section(kinds: Iterable[AgentKind]) -> Section | None:
    """Subagents that the user or the project defines, each in a line, as far as there is room."""
    body, left = "", AGENTS_ROOM
    for kind in kinds:
        line = f"- {kind.name}: {kind.description[:AGENTS_LINE] or 'no description'}\n"
        left -= len(line)
        body += line if left > 0 else ""
    return Section("agents", f"Further agents for the tool task:\n{body}", "Subagents", order=AGENTS) if body else None


def overview_section(symbols: str) -> Section | None:
    """The map of the project's definitions."""
    if not symbols:
        return None
    told = "The definitions that the rest of the code refers to most, by file and line:"
    return Section("overview", f"{told}\n{symbols}", "Map of the code", order=OVERVIEW)


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the agent works, as it was at the last safe point."""

    cwd: Path
    top: Path
    """Top of the work tree, equal to `cwd` where there is no repository."""
    platform: str
    today: date
    branch: str = ""
    """"" where there is no repository or no branch is checked out."""
    head: str = ""
    """Short id of the newest commit, "" where there is none."""
    repository: bool = False


def environment_section(environment: Environment) -> Section:
    """What differs from one session to the next."""
    lines = [f"Working folder: {environment.cwd}"]
    if environment.top != environment.cwd:
        lines.append(f"Project root: {environment.top}")
    lines += [f"Platform: {environment.platform}", f"Git: {_git(environment)}", f"Today: {environment.today:%Y-%m-%d}"]
    return Section("environment", "\n".join(lines), TITLE, order=ENVIRONMENT)


def changed_section(paths: Sequence[str]) -> Section | None:
    """Files that others changed since the model read them."""
    if not paths:
        return None
    told = "Changed on disk since you read them; read them again before you rely on them:"
    return Section("changed", "\n".join([told, *(f"- {path}" for path in paths)]), "Changed files", order=CHANGED)


def _git(environment: Environment) -> str:
    if not environment.repository:
        return "not a repository"
    where = f"on branch {environment.branch}" if environment.branch else "detached"
    return f"{where} at {environment.head}" if environment.head else f"{where}, no commit yet"
