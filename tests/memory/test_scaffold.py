"""A first CODEAGENT.md: what a repository shows of itself, and what is never overwritten."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from codeagent.core.paths import Project
from codeagent.memory.imports import find_imports
from codeagent.memory.scaffold import Scaffold
from codeagent.memory.survey import Survey, survey


def tree(top: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    return top


def scaffold(top: Path) -> Scaffold:
    return Scaffold(Project(top, top, top))


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "商店").mkdir()
    return tmp_path / "商店"


def test_a_python_project_with_a_makefile(top: Path) -> None:
    tree(
        top,
        {
            "README.md": "# Shop\n\n[![badge](x)](y)\n\nSells tea.\nAnd cups.\n\nMore.",
            "Makefile": "VERSION := 1\nall: build\nbuild: x\n\tgcc\ntest:\n\tpytest\nnobody:\n\t:\n.PHONY: test\n",
            "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n",
            "uv.lock": "",
            "shop/a.py": "",
            "shop/b.py": "",
            "shop/__pycache__/a.pyc": "",
            "tests/test_a.py": "",
            "node_modules/x/index.js": "",
            ".git/config": "",
        },
    )
    assert survey(top) == Survey(
        "商店",
        "Sells tea. And cups.",
        (("Python", 3),),
        (("", "make build"), ("", "make test"), ("test", "uv run pytest"), ("lint", "uv run ruff check")),
        (("shop", "2 files, mostly Python"), ("tests", "1 file, mostly Python")),
    )


def test_a_node_project(top: Path) -> None:
    scripts = {"build": "vite build", "test": "vitest", "lint": "eslint .", "postfoo": "x"}
    tree(top, {"package.json": json.dumps({"scripts": scripts}), "pnpm-lock.yaml": "", "src/a.ts": "", "src/b.tsx": ""})
    found = survey(top)
    assert found.languages == (("TypeScript", 2),)
    assert found.commands == (
        ("install", "pnpm install"),
        ("", "pnpm run build"),
        ("", "pnpm test"),
        ("", "pnpm run lint"),
    )


@pytest.mark.parametrize(
    ("file", "command"),
    [("Cargo.toml", "cargo test"), ("go.mod", "go test ./..."), ("pom.xml", "mvn test"), ("tox.ini", "tox")],
)
def test_other_build_files_name_their_tests(top: Path, file: str, command: str) -> None:
    tree(top, {file: ""})
    assert ("test", command) in survey(top).commands


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": 5}', "\x00", "[" * 9_999, "[tool]\ntool = 5"])
def test_broken_build_files_do_no_harm(top: Path, text: str) -> None:
    tree(top, {"package.json": text, "pyproject.toml": text, "Makefile": text, "README.md": text})
    assert survey(top).name == "商店"


def test_the_draft_reads_like_a_file_a_person_would_write(top: Path) -> None:
    tree(top, {"README.md": "Sells tea.", "go.mod": "module shop", "main.go": "", "AGENTS.md": "Be kind."})
    assert scaffold(top).draft() == (
        "# 商店\n\nSells tea.\n\nLanguages: Go (1 file).\n\n"
        "## Commands\n- build: `go build ./...`\n- test: `go test ./...`\n- lint: `go vet ./...`\n\n"
        "## Further instructions\n- @AGENTS.md\n\n"
        "## Conventions\n- Personal notes for this machine stand in CODEAGENT.local.md, which is not committed.\n"
    )


def test_instructions_for_other_agents_stay_in_force(top: Path) -> None:
    """A CODEAGENT.md takes the place of AGENTS.md beside it: the draft imports it."""
    tree(top, {"AGENTS.md": "Be kind.", "CLAUDE.md": "Be brief.", ".cursorrules": "Be fast."})
    imported = list(find_imports(scaffold(top).draft(), top, top))
    assert imported == [top / "AGENTS.md", top / "CLAUDE.md", top / ".cursorrules"]


def test_an_empty_folder_has_a_draft_too(top: Path) -> None:
    assert scaffold(top).draft().startswith("# 商店\n\n## Conventions\n- ")


def test_a_linked_file_is_written_through(top: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.md").write_text("old", encoding="utf-8")
    (top / "CODEAGENT.md").symlink_to(tmp_path / "shared.md")
    scaffold(top).write("new\n")
    assert ((tmp_path / "shared.md").read_bytes(), (top / "CODEAGENT.md").is_symlink()) == (b"new\n", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shared.md", "商店"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"CODEAGENT.local.md\n"),
        (b"*.pyc", b"*.pyc\nCODEAGENT.local.md\n"),
        (b"*.pyc\r\n", b"*.pyc\r\nCODEAGENT.local.md\r\n"),
        (b"/CODEAGENT.local.md\n", b"/CODEAGENT.local.md\n"),
        (b"*.local.md\n", b"*.local.md\n"),
    ],
)
def test_the_local_file_is_ignored_once(top: Path, before: bytes | None, after: bytes) -> None:
    (top / ".git").mkdir()
    if before is not None:
        (top / ".gitignore").write_bytes(before)
    assert scaffold(top).ignore_local() == (before != after)
    assert (scaffold(top).ignore_local(), (top / ".gitignore").read_bytes()) == (False, after)


def test_outside_a_repository_nothing_is_ignored(top: Path) -> None:
    assert (scaffold(top).ignore_local(), list(top.iterdir())) == (False, [])


def test_task_memory_of_another_agent_is_copied_where_we_have_none(top: Path) -> None:
    tree(
        top,
        {
            ".agent/memory/tattoo.md": "never force-push",
            ".agent/memory/notes.md": "theirs",
            ".agent/memory/other.md": "x",
            ".code-agent-cli/memory/notes.md": "ours",
        },
    )
    made = scaffold(top)
    assert [path.name for path in made.foreign()] == ["tattoo.md"]
    made.take_over(made.foreign())
    memory = top / ".code-agent-cli" / "memory"
    assert {path.name: path.read_text() for path in memory.iterdir()} == {
        "tattoo.md": "never force-push",
        "notes.md": "ours",
    }
    assert (top / ".code-agent-cli" / ".gitignore").read_text() == "log/\n*.local.*\n*.lock\n"
    assert made.foreign() == ()
