"""What a tool looks like to the model, and how it says no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codeagent.core.tools import Tool


class ToolFault(Exception):
    """The call cannot be done as it stands, and the model can mend it; `str()` is what it reads.

    Raised inside a tool's `run` or `action`; the toolbox makes a failed result of it.
    """

    def __init__(self, text: str, summary: str = "failed") -> None:
        super().__init__(text)
        self.summary = summary


_UNSAID = {"title", "default", "$defs", "minimum", "maximum", "exclusiveMinimum", "maxLength", "maxItems"}
"""What the model need not know of a parameter: bounds are told when one is broken."""


def schema(tool: Tool) -> dict[str, Any]:
    """The chat-completions form of `tool`: a type on every property, no references, no titles, nothing needless."""
    raw = tool.params.model_json_schema()
    raw.pop("description", None)
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": " ".join((tool.run.__doc__ or "").split()),
            "parameters": _compact(raw, raw.get("$defs", {})),
        },
    }


def terse_schema(tool: Tool) -> dict[str, Any]:
    """The same in few words: the first sentence, and of the parameters only those described that must be given."""
    form = schema(tool)
    function = form["function"]
    function["description"] = function["description"].partition(". ")[0].rstrip(".") + "."
    parameters = function["parameters"]
    for name, about in parameters["properties"].items():
        if name not in parameters.get("required", ()):
            about.pop("description", None)
    return form


def _compact(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1:
        node = {**options[0], **{key: value for key, value in node.items() if key != "anyOf"}}
        return _compact(node, definitions)
    compact = {key: value for key, value in node.items() if key not in _UNSAID}
    if "enum" in compact and "type" not in compact:
        compact["type"] = "string"
    if options:
        compact["anyOf"] = [_compact(option, definitions) for option in options]
    if "properties" in compact:
        compact["properties"] = {name: _compact(inner, definitions) for name, inner in compact["properties"].items()}
    if isinstance(compact.get("items"), Mapping):
        compact["items"] = _compact(compact["items"], definitions)
    return compact
