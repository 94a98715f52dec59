"""Which definitions a language has, told by its tree-sitter grammar where that package is installed (extra `code`)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Definition:
    """Where something is defined: lines from 1, both included."""

    start: int
    end: int
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar package, the function in it that gives the language, and the nodes that define something."""

    package: str
    kinds: Mapping[str, str]
    """Node type → kind."""
    function: str = "language"


_C = {"function_definition": "function", "struct_specifier": "struct", "enum_specifier": "enum"}
_CPP = _C | {"class_specifier": "class", "namespace_definition": "namespace"}
_JS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
    "variable_declarator": "function",
}
_TS = _JS | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
}
_JAVA = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "class",
    "method_declaration": "method",
    "constructor_declaration": "method",
}
_RUST = {
    "function_item": "function",
    "struct_item": "struct",
    "enum_item": "enum",
    "trait_item": "trait",
    "impl_item": "impl",
    "mod_item": "module",
    "macro_definition": "macro",
}
_PHP = {
    "function_definition": "function",
    "class_declaration": "class",
    "interface_declaration": "interface",
    "trait_declaration": "trait",
    "method_declaration": "method",
}
_GO = {"function_declaration": "function", "method_declaration": "method", "type_spec": "type"}
_RUBY = {"class": "class", "module": "module", "method": "method", "singleton_method": "method"}
_PYTHON = {"function_definition": "function", "class_definition": "class"}
_CSHARP = _JAVA | {"struct_declaration": "struct", "namespace_declaration": "namespace"}

_GRAMMARS = {
    ".py .pyi": Grammar("tree_sitter_python", _PYTHON),
    ".js .jsx .mjs .cjs": Grammar("tree_sitter_javascript", _JS),
    ".ts .mts .cts": Grammar("tree_sitter_typescript", _TS, "language_typescript"),
    ".tsx": Grammar("tree_sitter_typescript", _TS, "language_tsx"),
    ".go": Grammar("tree_sitter_go", _GO),
    ".java": Grammar("tree_sitter_java", _JAVA),
    ".rs": Grammar("tree_sitter_rust", _RUST),
    ".c .h": Grammar("tree_sitter_c", _C),
    ".cc .cpp .cxx .hpp .hh .hxx": Grammar("tree_sitter_cpp", _CPP),
    ".sh .bash": Grammar("tree_sitter_bash", {"function_definition": "function"}),
    ".rb": Grammar("tree_sitter_ruby", _RUBY),
    ".php": Grammar("tree_sitter_php", _PHP, "language_php"),
    ".cs": Grammar("tree_sitter_c_sharp", _CSHARP),
}
GRAMMARS = {suffix: grammar for suffixes, grammar in _GRAMMARS.items() for suffix in suffixes.split()}
"""By the ending of a file's name."""

_NAMES = ("name", "declarator", "type")
"""The fields in which grammars keep what a definition is called, the surest first."""


class Parsers:
    """Parsers by language, each made on first use; not for several threads at once."""

    def __init__(self, grammars: Mapping[str, Grammar] = GRAMMARS) -> None:
        self._grammars = grammars
        self._made: dict[tuple[str, str], tuple[Any, Any] | None] = {}

    def definitions(self, suffix: str, text: str) -> list[Definition] | None:
        """What `text` defines, in order; None where no grammar for it is installed."""
        grammar = self._grammars.get(suffix)
        made = self._parser(grammar) if grammar else None
        if grammar is None or made is None:
            return None
        parser, cursor = made
        data = text.encode("utf-8", "replace")
        found = cursor().captures(parser.parse(data).root_node)
        nodes = sorted(found.get("it", ()), key=lambda node: (node.start_byte, -node.end_byte))
        return list(_definitions(nodes, grammar.kinds))

    def _parser(self, grammar: Grammar) -> tuple[Any, Any] | None:
        key = grammar.package, grammar.function
        if key not in self._made:
            self._made[key] = _make(grammar)
        return self._made[key]


def _make(grammar: Grammar) -> tuple[Any, Any] | None:
    try:
        import tree_sitter

        module = importlib.import_module(grammar.package)
        language = tree_sitter.Language(getattr(module, grammar.function)())
        query = tree_sitter.Query(language, " ".join(f"({kind}) @it" for kind in grammar.kinds))
    except (ImportError, AttributeError, ValueError, tree_sitter.QueryError):
        return None  # not installed, or of a version that speaks otherwise
    return tree_sitter.Parser(language), lambda: tree_sitter.QueryCursor(query)


def _definitions(nodes: list[Any], kinds: Mapping[str, str]) -> Iterator[Definition]:
    for node in nodes:
        name = _name(node)
        if name and _defines(node):
            yield Definition(node.start_point[0] + 1, _last_line(node), name, kinds[node.type])


def _defines(node: Any) -> bool:
    """Whether a node that may also only mention a type, or hold any value, defines what we look for."""
    if node.type in {"struct_specifier", "enum_specifier", "class_specifier"}:
        return node.child_by_field_name("body") is not None
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return value is not None and value.type in {"arrow_function", "function_expression"}
    return True


def _last_line(node: Any) -> int:
    row, column = int(node.end_point[0]), int(node.end_point[1])
    return row + 1 if column or row == node.start_point[0] else row


def _name(node: Any) -> str:
    """What a node is called: for C the innermost declarator, for an impl its type."""
    for field in _NAMES:
        inner = node.child_by_field_name(field)
        if inner is None:
            continue
        while (deeper := inner.child_by_field_name("declarator")) is not None:
            inner = deeper
        text: bytes = inner.text or b""
        return " ".join(text.decode("utf-8", "replace").split())[:120]
    return ""
