"""The system prompt: sections in order, what changes last."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from codeagent.core.sections import Section
from codeagent.core.tokens import estimate_tokens
from codeagent.prompting.prompt import Environment, build_prompt, environment_section, system_section

HERE = Environment(Path("/repo/web"), Path("/repo"), "linux", date(2026, 5, 1), "main", "abc1234", repository=True)
RULES = Section("project_context", "Use pnpm.", "Project context", order=200)
FACTS = Section("facts", "## Relevant long-term memory\n- The port is 5433.", order=400)


def test_sections_stand_by_their_order_and_empty_ones_are_left_out() -> None:
    sections = [FACTS, Section("a", "first", order=1), None, Section("b", " \n", "Empty", order=2), RULES]
    assert build_prompt(sections) == (
        "first\n\n# Project context\nUse pnpm.\n\n## Relevant long-term memory\n- The port is 5433."
    )


def test_what_differs_between_sessions_stands_behind_what_does_not() -> None:
    today = build_prompt([system_section(), RULES, environment_section(HERE), FACTS])
    tomorrow = replace(HERE, today=date(2026, 5, 2), branch="fix", head="def5678")
    other = build_prompt([system_section(), RULES, environment_section(tomorrow)])
    fixed = build_prompt([system_section(), RULES])
    assert (today[: len(fixed)], other[: len(fixed)]) == (fixed, fixed)
    assert today.index("5433") > today.index("2026-05-01")


def test_the_environment_is_told_as_it_is() -> None:
    assert environment_section(HERE).body.splitlines() == [
        "Working folder: /repo/web",
        "Project root: /repo",
        "Platform: linux",
        "Git: on branch main at abc1234",
        "Today: 2026-05-01",
    ]


def test_repositories_without_branch_or_commit_and_folders_without_repository() -> None:
    bare = replace(HERE, cwd=Path("/repo"), branch="", head="", repository=False)
    kinds = [
        bare,
        replace(bare, repository=True, branch="main"),
        replace(bare, repository=True, head="abc1234"),
    ]
    assert [environment_section(kind).body.splitlines()[2] for kind in kinds] == [
        "Git: not a repository",
        "Git: on branch main, no commit yet",
        "Git: detached at abc1234",
    ]


def test_the_fixed_text_is_short() -> None:
    assert 100 < estimate_tokens(system_section().render()) <= 800
    assert 100 < estimate_tokens(system_section(terse=True).render()) <= 250
