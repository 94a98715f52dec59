"""How files are cut: along definitions, in every language that has a grammar, and sensibly elsewhere."""

from __future__ import annotations

import pytest

from codeagent.codebase.chunks import WINDOW, Chunk, cut
from codeagent.codebase.grammars import GRAMMARS, Grammar, Parsers

PARSERS = Parsers()


def parts(suffix: str, text: str) -> list[tuple[int, int, str, str]]:
    return [(one.start, one.end, one.kind, one.symbol) for one in cut(suffix, text, PARSERS)]


LANGUAGES = {
    ".js": (
        "class Cache {\n  get(key) {\n    return 1\n  }\n}\n"
        "const later = async () => {\n  go()\n}\nfunction go() {\n  1\n}",
        ["class Cache", "method Cache.get", "function later", "function go"],
    ),
    ".ts": (
        "interface Shape {\n  area: number\n}\ntype Name = {\n  a: string\n}\nenum Kind {\n  A\n}\n"
        "abstract class Base {\n  run(): void {\n    return\n  }\n}",
        ["interface Shape", "type Name", "enum Kind", "class Base", "method Base.run"],
    ),
    ".tsx": ("function App() {\n  return <div>你好</div>\n}", ["function App"]),
    ".go": (
        "package a\n\ntype Server struct {\n\tport int\n}\n\n"
        "func (s *Server) Run() {\n\ts.x()\n}\n\nfunc New() {\n\treturn\n}",
        ["type Server", "method Run", "function New"],
    ),
    ".java": (
        "class Shop {\n  Shop() {\n    open();\n  }\n  int sell(int n) {\n    return n;\n  }\n}\nenum Size {\n  S\n}",
        ["class Shop", "method Shop.Shop", "method Shop.sell", "enum Size"],
    ),
    ".rs": (
        "struct Point {\n  x: i32,\n}\nimpl Point {\n  fn len(&self) -> i32 {\n"
        "    self.x\n  }\n}\ntrait Far {\n  fn f();\n}\n"
        "fn main() {\n  run();\n}",
        ["struct Point", "impl Point", "method Point.len", "trait Far", "function main"],
    ),
    ".c": (
        "struct point {\n  int x;\n};\nstatic int *find(struct point *p) {\n  return 0;\n}\nenum kind {\n  A,\n};",
        ["struct point", "function find", "enum kind"],
    ),
    ".cpp": (
        "namespace app {\nclass Box {\n  int size() {\n    return 1;\n  }\n};\n}\nvoid Box::open() {\n  run();\n}",
        ["namespace app", "class app.Box", "method app.Box.size", "function Box::open"],
    ),
    ".sh": ("setup() {\n  echo 1\n}\nfunction clean {\n  rm x\n}", ["function setup", "function clean"]),
    ".rb": (
        "module Shop\n  class Cart\n    def add(item)\n      1\n    end\n"
        "    def self.make\n      2\n    end\n  end\nend",
        ["module Shop", "class Shop.Cart", "method Shop.Cart.add", "method Shop.Cart.make"],
    ),
    ".php": (
        "<?php\nclass Cart {\n  function add($x) {\n    return 1;\n  }\n}\nfunction go() {\n  return 2;\n}",
        ["class Cart", "method Cart.add", "function go"],
    ),
    ".cs": (
        "namespace App {\n  class Cart {\n    int Add(int x) {\n"
        "      return 1;\n    }\n  }\n  struct P {\n    int x;\n  }\n}",
        ["namespace App", "class App.Cart", "method App.Cart.Add", "struct App.P"],
    ),
    ".pyi": ("class A:\n    def f(self) -> int:\n        ...\n", ["class A", "method A.f"]),
}


@pytest.mark.parametrize("suffix", LANGUAGES)
def test_each_language_is_cut_along_its_definitions(suffix: str) -> None:
    text, expected = LANGUAGES[suffix]
    found = cut(suffix, text, PARSERS)
    assert list(dict.fromkeys(f"{one.kind} {one.symbol}" for one in found if one.symbol)) == expected


def test_every_grammar_that_is_named_is_tried_here() -> None:
    def known(suffix: str) -> tuple[str, str]:
        return GRAMMARS[suffix].package, GRAMMARS[suffix].function

    assert {known(suffix) for suffix in GRAMMARS} == {known(suffix) for suffix in LANGUAGES}


PYTHON = '''"""模块说明"""
import os

# 读取配置文件
@cached
def read(path):
    """Read it."""
    return path


class Store:
    """Keeps."""

    size = 1

    async def get(self, key):
        def inner():
            return key
        return inner()
'''


def test_python_is_cut_with_its_comments_and_decorators() -> None:
    assert cut(".py", PYTHON, PARSERS) == [
        Chunk(1, 2, "", "", 1, '"""模块说明"""', '"""模块说明"""\nimport os'),
        Chunk(
            4, 8, "read", "function", 6, "def read(path):",
            '# 读取配置文件\n@cached\ndef read(path):\n    """Read it."""\n    return path',
        ),
        Chunk(11, 14, "Store", "class", 11, "class Store:", 'class Store:\n    """Keeps."""\n\n    size = 1'),
        Chunk(
            16, 19, "Store.get", "method", 16, "async def get(self, key):",
            "    async def get(self, key):\n        def inner():\n            return key\n        return inner()",
        ),
    ]  # fmt: skip


def test_python_that_does_not_parse_is_cut_by_its_grammar() -> None:
    broken = "def good():\n    return 1\n\ndef bad(:\n    return (\n\ndef after():\n    return 2\n"
    assert "function good" in [f"{kind} {symbol}" for _, _, kind, symbol in parts(".py", broken)]


def test_broken_code_keeps_what_can_be_told() -> None:
    broken = "function good() {\n  return 1\n}\nfunction bad( {{{\n"
    assert "good" in [symbol for *_, symbol in parts(".js", broken)]


def test_markdown_is_cut_at_its_headings_outside_of_code() -> None:
    text = "intro text\n\n# 安装\npip install x\n```sh\n# no heading\n```\n## Use it ##\nrun\n"
    assert parts(".md", text) == [(1, 1, "", ""), (3, 7, "section", "安装"), (8, 9, "section", "Use it")]


def test_without_a_grammar_windows_end_at_blank_lines() -> None:
    lines = [f"line {number}" for number in range(1, 151)]
    lines[50] = ""  # the border, not the line where the window would end
    assert parts(".zig", "\n".join(lines)) == [(1, 50, "", ""), (52, 51 + WINDOW, "", ""), (112, 150, "", "")]


def test_a_grammar_that_is_not_installed_leaves_windows() -> None:
    parsers = Parsers({".nope": Grammar("tree_sitter_of_nothing", {"x": "function"})})
    assert [(one.start, one.end, one.symbol) for one in cut(".nope", "function x\n", parsers)] == [(1, 1, "")]


def test_a_long_function_is_parted_and_each_part_names_it() -> None:
    text = "def long():\n" + "".join(f"    step({number})\n" for number in range(200))
    assert {symbol for *_, symbol in parts(".py", text)} == {"long"}
    assert [end - start < WINDOW * 3 // 2 for start, end, *_ in parts(".py", text)] == [True] * 3


@pytest.mark.parametrize("suffix", ["", ".py", ".js", ".md", ".zig", ".c"])
@pytest.mark.parametrize(
    "text", ["", "\n\n\n", "}", "\ufeff", "\0", "x" * 100_000, "(" * 5_000, "# " * 3_000, "\r\n\x0c\u2028"]
)
def test_anything_is_cut_into_parts_within_its_lines(suffix: str, text: str) -> None:
    lines = len(text.splitlines())
    assert all(1 <= start <= end <= lines for start, end, *_ in parts(suffix, text))
