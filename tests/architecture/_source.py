"""The package as the architecture tests read it: files, rooms, imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "codeagent"

LAYERS = [
    {"core", "text"},
    {"llm", "tools", "safety", "memory", "history", "codebase", "extensions", "prompting"},
    {"agent"},
    {"commands"},
    {"ui", "acp"},
    {
        *("app", "settings", "options", "workspace", "endpoints", "assembly", "summaries", "tasks", "toolkit"),
        *("checkup", "confining", "connection", "delegation", "lessons"),
        *("locale", "parts", "prompts", "saving", "windows"),
    },
    {"cli", "__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
SIBLINGS_APART = {1}
"""Levels whose rooms never import one another."""


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted module) of every import below `node`; `from a import b` gives a.b as well as a."""
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from ((child.lineno, alias.name) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: imports are absolute"
            yield child.lineno, child.module or ""
            yield from ((child.lineno, f"{child.module}.{alias.name}") for alias in child.names)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
