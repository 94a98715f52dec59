"""Which modules a start loads: seconds differ from machine to machine, the list does not."""

from __future__ import annotations

import subprocess
import sys

SLOW = {"openai", "jieba", "mcp", "pydantic", "pydantic_settings", "typer", "rich", "httpx2", "sqlite3"}


def _loaded(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(' '.join(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {module.split(".")[0] for module in done.stdout.splitlines()[-1].split()}


def test_importing_the_package_loads_nothing_else() -> None:
    assert _loaded("import codeagent") - _loaded("pass") == {"codeagent"}


def test_the_version_needs_no_slow_module() -> None:
    loaded = _loaded(
        "sys.argv = ['codeagent', '--version']\nimport codeagent.__main__ as m\ntry: m.main()\nexcept SystemExit: pass"
    )
    assert loaded & (SLOW | {"prompt_toolkit", "asyncio"}) == set()


def test_the_first_draw_needs_the_terminal_library_alone() -> None:
    assert _loaded("import codeagent.cli.start") & SLOW == set()


def test_the_whole_product_loads_openai_and_jieba_on_first_use_only() -> None:
    assert _loaded("import codeagent.app") & {"openai", "jieba", "typer", "httpx2", "html_to_markdown"} == set()
