"""Whatever is found in the socket of tools keeps the same promises."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from codeagent.core.messages import ToolCall, encode_json
from codeagent.core.plugins import discover
from codeagent.core.tools import Tool
from codeagent.memory.estimators import make_estimate
from codeagent.tools import builtin
from codeagent.tools.base import schema, terse_schema
from codeagent.tools.toolbox import Toolbox
from tests.tools.world import Gate

FOUND: dict[str, Tool] = discover(builtin, "TOOL")
PROMISED = {
    "read_file": ["path", "offset", "limit"],
    "write_file": ["path", "content"],
    "edit_file": ["path", "old_string", "new_string", "replace_all"],
    "apply_patch": ["patch"],
    "glob": ["pattern", "path", "limit"],
    "grep": ["pattern", "path", "glob", "mode", "before", "after", "ignore_case", "limit", "offset"],
    "shell": ["command", "timeout", "background", "description", "cwd"],
    "shell_job": ["action", "id", "wait"],
    "web_fetch": ["url", "offset"],
    "todo": ["items"],
    "ask_user": ["question", "options"],
    "task": ["prompt", "agent"],
    "recall": ["query", "id", "scope", "limit", "offset"],
    "save_memory": ["content", "scope", "type", "key"],
    "update_task": ["section", "content"],
}
HARMLESS = {"ask_user", "exit_plan", "shell_job", "todo"}
"""Speak with the person, or look after what was permitted."""


@pytest.fixture(params=sorted(FOUND))
def tool(request: pytest.FixtureRequest) -> Tool:
    return FOUND[request.param]


def _nodes(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [inner for item in node for inner in _nodes(item)]
    return [node, *(inner for value in node.values() for inner in _nodes(value))] if isinstance(node, dict) else []


def _example(tool: Tool) -> dict[str, Any]:
    """The least arguments that fit, made from the schema."""
    parameters = schema(tool)["function"]["parameters"]
    made: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return {
        name: prop["enum"][0] if "enum" in (prop := parameters["properties"][name]) else made[prop["type"]]
        for name in parameters.get("required", ())
    }


@pytest.mark.parametrize("name", PROMISED)
def test_names_and_parameters_are_as_promised(name: str) -> None:
    assert list(schema(FOUND[name])["function"]["parameters"]["properties"]) == PROMISED[name]


def test_a_tool_is_named_like_its_file() -> None:
    assert {name: tool.name for name, tool in FOUND.items()} == {name: name for name in FOUND}


def test_the_schema_is_plain(tool: Tool) -> None:
    function = schema(tool)["function"]
    assert re.fullmatch(r"[a-z][a-z0-9_]{1,40}", function["name"])
    assert 10 < len(function["description"]) < 600
    assert function["parameters"]["type"] == "object"
    assert all("type" in prop or "anyOf" in prop for prop in function["parameters"]["properties"].values())
    keys = {key for node in _nodes(function["parameters"]) for key in node}
    assert keys & {"$ref", "$defs", "title", "default", "allOf"} == set()


def test_few_words_leave_the_arguments_as_they_are(tool: Tool) -> None:
    whole, terse = schema(tool)["function"], terse_schema(tool)["function"]
    assert list(terse["parameters"]["properties"]) == list(whole["parameters"]["properties"])
    assert terse["parameters"].get("required") == whole["parameters"].get("required")
    assert whole["description"].startswith(terse["description"].rstrip("."))


def test_all_schemas_together_are_small() -> None:
    assert make_estimate("exact")(encode_json([schema(tool) for tool in FOUND.values()])) < 3_500


def test_the_title_is_one_line(tool: Tool) -> None:
    box = Toolbox([tool], Gate())
    title = box.title(ToolCall("c", tool.name, json.dumps(_example(tool))))
    assert title == " ".join(title.split()) != ""


def test_what_touches_the_person_is_judged(tool: Tool) -> None:
    assert tool.action is not None or tool.name in HARMLESS
