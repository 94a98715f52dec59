"""Whatever arguments a model makes up, every tool answers: bounded, no exception, nothing written outside."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeagent.core.messages import ToolCall
from codeagent.core.plugins import discover
from codeagent.core.ports import Verdict
from codeagent.core.tools import ROOM, Action, Tool
from codeagent.tools import builtin
from codeagent.tools.base import schema
from codeagent.tools.toolbox import Toolbox
from tests.tools.world import Gate, make_world

FOUND: dict[str, Tool] = discover(builtin, "TOOL")
# What runs and what goes out is chosen by us; all the rest is made up.
CHOSEN = {
    "command": ["true", "exit 3", "printf '\\xff\\x00\\033[31m'", "seq 9999", "cd ..", "cd /; false", ")", "\0", ""],
    "url": ["", "x", "file:///etc/passwd", "http://127.0.0.1:9/", "http://[::1]:9/", "http://\0/", "ftp://a", "//"],
    "timeout": [0.5, -1, 0, 1e99, "1", None],
    "wait": [0, -1, 0.1, 1e9, "x"],
    "id": ["job1", "m1", "t1", "c1", "task1", "m1-m9", "../x", "\0", "", "x" * 400],
}
PATHS = [
    "a.txt",
    "子/b.py",
    "pic.png",
    "gone/x",
    ".",
    "..",
    "/",
    "~",
    "",
    " ",
    "\0",
    "a.txt/x",
    "x" * 5_000,
    "/dev/zero",
]
PATTERNS = ["*", "**/*.py", "[", "(", "a{1,99999999}", "../*", "\\", "!x", "\0", "{a,b", "(?P<n>x)\\1"]
WORDS = st.one_of(st.sampled_from([*PATHS, *PATTERNS]), st.text(max_size=200))
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(), WORDS,
    st.lists(WORDS, max_size=3), st.dictionaries(st.text(max_size=5), WORDS, max_size=3),
)  # fmt: skip


@dataclass
class Inside(Gate):
    """Lets nothing be changed but below `top`."""

    top: Path = Path("/nowhere")

    async def check(self, action: Action) -> Verdict:
        inside = all(Path(path).is_relative_to(self.top) for path in (action.subject, *action.also))
        return Verdict(action.kind != "edit" or inside, "Not there.")


def _fitting(name: str, prop: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that often pass the validation, so that the tool itself has to cope."""
    if name in CHOSEN:
        return st.sampled_from(CHOSEN[name])
    if "enum" in prop:
        return st.sampled_from(prop["enum"])
    made: dict[str, st.SearchStrategy[Any]] = {
        "string": WORDS,
        "integer": st.sampled_from([0, 1, 2, -1, 10**9, 10**20]),
        "number": st.sampled_from([0, 0.5, -1.0]),
        "boolean": st.booleans(),
        "array": st.lists(JUNK, max_size=4),
    }
    return made.get(prop.get("type", ""), JUNK)


def arguments(tool: Tool) -> st.SearchStrategy[dict[str, Any]]:
    parameters = schema(tool)["function"]["parameters"]
    needed = set(parameters.get("required", ()))
    made = {
        name: _fitting(name, prop) if name in CHOSEN else st.one_of(_fitting(name, prop), _fitting(name, prop), JUNK)
        for name, prop in parameters["properties"].items()
    }
    return st.fixed_dictionaries(
        {name: value for name, value in made.items() if name in needed},
        optional={name: value for name, value in made.items() if name not in needed},
    )


async def _run(tool: Tool, calls: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder), timeout=0.5, kills=True)
        world.file("a.txt", "one\ntwo 二\n")
        world.file("子/b.py", "def f():\n    return 1\n")
        world.file("pic.png", b"\x89PNG\r\n\x1a\n\0\0")
        box = Toolbox([tool], Inside(top=world.top))
        try:
            for number, given_arguments in enumerate(calls):
                call = ToolCall(f"c{number}", tool.name, json.dumps(given_arguments))
                assert "\n" not in box.title(call)
                result = await asyncio.wait_for(box.run(call, world.ctx), 20)
                assert result.summary != "broke", result.text
                assert len(result.text.encode()) < ROOM + 2_000
                assert result.text
        finally:
            await world.jobs.aclose()


@pytest.mark.parametrize("name", sorted(FOUND))
def test_any_arguments_get_a_bounded_answer(name: str) -> None:
    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(arguments(FOUND[name]), min_size=1, max_size=4))
    def run(calls: list[dict[str, Any]]) -> None:
        asyncio.run(_run(FOUND[name], calls))

    run()
