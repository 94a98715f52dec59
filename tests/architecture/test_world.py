"""The world is handed in: home, environment and console are known to the top alone, and tests touch no insides."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture._source import LEVEL, ROOT, modules, name, room, tree

PATCHING = re.compile(r"\bmock\b|MagicMock|monkeypatch\.(setattr|setitem)|pytest\.(skip|xfail)\(|mark\.(skip|xfail)")


def _dotted(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""


def test_nothing_below_the_composition_root_reaches_for_the_world() -> None:
    banned = {"Path.home", "os.environ", "os.getenv", "os.getcwd", "Path.cwd", "os.path.expanduser"}
    strays = [
        f"{name(path)}:{node.lineno}: {_dotted(node)}"
        for path in modules()
        if room(path) != "__init__" and LEVEL[room(path)] < LEVEL["app"]
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and _dotted(node) in banned
    ]
    assert strays == []


def test_nothing_below_the_command_line_prints() -> None:
    strays = [
        f"{name(path)}:{node.lineno}"
        for path in modules()
        if room(path) not in {"cli", "__main__"}
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert strays == []


def test_the_package_does_not_know_of_tests() -> None:
    knowing = re.compile("import pytest|PYTEST_|_called_from_test")
    assert [name(path) for path in modules() if knowing.search(path.read_text(encoding="utf-8"))] == []


def test_tests_patch_nothing() -> None:
    here = Path(__file__)
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != here
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if PATCHING.search(line)
    ] == []
