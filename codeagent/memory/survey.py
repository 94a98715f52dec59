"""What a repository shows of itself: languages, commands, layout. Read from its files alone, nothing is run."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILES = 20_000
"""Files that are looked at; a larger tree shows its kind by then."""
_TEXT = 200_000
_SKIPPED = {
    "node_modules",
    "vendor",
    "third_party",
    "venv",
    "env",
    "dist",
    "build",
    "target",
    "site-packages",
    "__pycache__",
}
_LANGUAGES = {
    ".py": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".jsx": "JavaScript",
    ".mjs": "JavaScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".c": "C", ".h": "C",
    ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP", ".swift": "Swift",
    ".scala": "Scala", ".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell", ".lua": "Lua", ".dart": "Dart",
    ".vue": "Vue", ".svelte": "Svelte", ".sh": "Shell", ".sql": "SQL", ".r": "R", ".jl": "Julia", ".zig": "Zig",
}  # fmt: skip
_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun"))
_TARGET = re.compile(r"^([A-Za-z][\w.-]*)\s*:(?!=)", re.M)
_WANTED = re.compile(r"build|compile|dist|test|check|lint|format|fmt|type|run|start|dev|serve|bench|doc|install|setup")


@dataclass(frozen=True, slots=True)
class Survey:
    name: str
    about: str = ""
    """First paragraph of the README."""
    languages: tuple[tuple[str, int], ...] = ()
    """(language, files), the most common first."""
    commands: tuple[tuple[str, str], ...] = ()
    """(what it is for, command line)."""
    layout: tuple[tuple[str, str], ...] = ()
    """(folder, what is in it), top level."""
    instructions: tuple[str, ...] = ()
    """Files with instructions for other agents."""


def survey(top: Path) -> Survey:
    """Look at the repository at `top`. What cannot be read is passed over."""
    folders: dict[str, Counter[str]] = {}
    for folder, suffix in _files(top):
        folders.setdefault(folder, Counter())[_LANGUAGES.get(suffix, "")] += 1
    languages = sum(folders.values(), Counter())
    del languages[""]
    known = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
    return Survey(
        top.name,
        _about(top),
        tuple(languages.most_common(4)),
        tuple(dict.fromkeys(_commands(top))),
        tuple((name, _what(counts)) for name, counts in sorted(folders.items()) if name),
        tuple(name for name in known if (top / name).is_file()),
    )


def _files(top: Path) -> Iterator[tuple[str, str]]:
    """(folder of the top level, "" for the top itself; ending) of each file."""
    seen = 0
    for root, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        parts = Path(root).relative_to(top).parts
        for name in files:
            yield (parts[0] if parts else ""), Path(name).suffix.lower()
        seen += len(files)
        if seen > _FILES:
            return


def _what(counts: Counter[str]) -> str:
    language, number = counts.most_common(1)[0]
    total = counts.total()
    told = f"{total} file{'s' * (total != 1)}"
    return f"{told}, mostly {language}" if language and number > total / 2 else told


def _about(top: Path) -> str:
    for name in ("README.md", "README.rst", "README.txt", "README", "README.zh.md", "readme.md"):
        for paragraph in re.split(r"\n\s*\n", _read(top / name)):
            text = " ".join(paragraph.split())
            if text and text[0] not in "#<![=-*`|>.:" and not re.match(r"[-=~]{3}", text):
                return text[:400]
    return ""


# ---- commands ------------------------------------------------------------------------------------------------------


def _commands(top: Path) -> Iterator[tuple[str, str]]:
    make = next((top / name for name in ("Makefile", "makefile", "GNUmakefile") if (top / name).is_file()), None)
    if make is not None:
        yield from (("", f"make {target}") for target in _TARGET.findall(_read(make)) if _WANTED.search(target))
    just = next((top / name for name in ("justfile", "Justfile") if (top / name).is_file()), None)
    if just is not None:
        yield from (("", f"just {recipe}") for recipe in _TARGET.findall(_read(just)) if _WANTED.search(recipe))
    yield from _node(top)
    yield from _python(top)
    for name, commands in _FIXED.items():
        if (top / name).is_file():
            yield from commands


_FIXED = {
    "Cargo.toml": (("build", "cargo build"), ("test", "cargo test"), ("lint", "cargo clippy")),
    "go.mod": (("build", "go build ./..."), ("test", "go test ./..."), ("lint", "go vet ./...")),
    "pom.xml": (("build", "mvn package"), ("test", "mvn test")),
    "build.gradle": (("build", "./gradlew build"), ("test", "./gradlew test")),
    "build.gradle.kts": (("build", "./gradlew build"), ("test", "./gradlew test")),
    "CMakeLists.txt": (("build", "cmake -B build && cmake --build build"), ("test", "ctest --test-dir build")),
    "composer.json": (("install", "composer install"),),
    "Gemfile": (("install", "bundle install"),),
    "mix.exs": (("build", "mix compile"), ("test", "mix test")),
    "Package.swift": (("build", "swift build"), ("test", "swift test")),
    "pubspec.yaml": (("test", "dart test"),),
    "deno.json": (("test", "deno test"),),
}


def _node(top: Path) -> Iterator[tuple[str, str]]:
    try:
        scripts = json.loads(_read(top / "package.json") or "{}").get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return
    if not isinstance(scripts, Mapping):
        return
    manager = next((name for file, name in _LOCKS if (top / file).is_file()), "npm")
    yield "install", f"{manager} install"
    for name in scripts:
        if _WANTED.search(name):
            yield "", f"{manager} test" if name == "test" else f"{manager} run {name}"


def _python(top: Path) -> Iterator[tuple[str, str]]:
    try:
        project: dict[str, Any] = tomllib.loads(_read(top / "pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        project = {}
    tools = project.get("tool")
    tools = tools if isinstance(tools, Mapping) else {}
    run = next((f"{tool} run " for tool in ("uv", "poetry", "pdm") if (top / f"{tool}.lock").is_file()), "")
    if "pytest" in tools or (top / "pytest.ini").is_file() or (top / "conftest.py").is_file():
        yield "test", f"{run}pytest"
    elif (top / "manage.py").is_file():
        yield "test", f"{run}python manage.py test"
    if (top / "tox.ini").is_file():
        yield "test", "tox"
    if (top / "noxfile.py").is_file():
        yield "test", "nox"
    if "ruff" in tools or (top / "ruff.toml").is_file():
        yield "lint", f"{run}ruff check"
    if "mypy" in tools or (top / "mypy.ini").is_file():
        yield "types", f"{run}mypy ."


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_TEXT).decode("utf-8-sig", "replace").replace("\r\n", "\n")
    except OSError:
        return ""
