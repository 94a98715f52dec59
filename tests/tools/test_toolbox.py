from __future__ import annotations

import asyncio
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from codeagent.core.errors import StoreError
from codeagent.core.messages import ToolCall
from codeagent.core.tools import Action, Tool, ToolContext, ToolResult
from codeagent.tools.base import schema
from codeagent.tools.toolbox import Toolbox, builtin_tools
from tests.tools.world import Gate, World


class Point(BaseModel):
    x: int
    y: int = 0


class Params(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    what: Literal["echo", "bug", "store", "disk", "long", "hang"]
    """What to do."""
    text: str | None = None
    points: list[Point] = []
    inner: Point | None = None


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Do one of several
    things.
    """
    match params.what:
        case "bug":
            raise KeyError("missing")
        case "store":
            raise StoreError("The file {name} is damaged.", name="x")
        case "disk":
            raise OSError(28, "No space left on device", "/x/y")
        case "hang":
            await asyncio.Event().wait()
    return ToolResult("字" * 50_000 if params.what == "long" else f"{params.text}")


async def action(params: Params, ctx: ToolContext) -> Action:
    return Action("probe", "run", params.what, "Probe")


PROBE = Tool("probe", "run", Params, run, lambda params: f"Probe {params.what}\n\x1b[31m", action)


def probe_box(gate: Gate | None = None) -> Toolbox:
    return Toolbox([PROBE], gate or Gate())


def test_a_schema_has_a_type_everywhere_and_nothing_needless() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}
    assert schema(PROBE) == {
        "type": "function",
        "function": {
            "name": "probe",
            "description": "Do one of several things.",
            "parameters": {
                "type": "object",
                "properties": {
                    "what": {
                        "type": "string",
                        "enum": ["echo", "bug", "store", "disk", "long", "hang"],
                        "description": "What to do.",
                    },
                    "text": {"type": "string"},
                    "points": {"type": "array", "items": point},
                    "inner": point,
                },
                "required": ["what"],
            },
        },
    }


def test_the_tool_list_is_one_stable_json_array() -> None:
    tools = builtin_tools()
    forwards, backwards = Toolbox(tools, Gate()), Toolbox(reversed(tools), Gate())
    assert forwards.schemas == backwards.schemas
    assert forwards.names == (
        *("read_file", "write_file", "edit_file", "apply_patch", "glob", "grep", "search_code", "shell", "shell_job"),
        *("web_fetch", "web_search", "recall", "todo", "save_memory", "task", "update_task", "ask_user", "exit_plan"),
    )
    assert [entry["function"]["name"] for entry in json.loads(forwards.schemas)] == list(forwards.names)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"what": "echo", "text": "hi"}', "hi"),
        ('{"what": "echo", "text": null, "points": null}', "None"),
        ('{"what": "echo", "text": "a\nb"}', "a\nb"),
        ('"{\\"what\\": \\"echo\\"}"', "None"),
        ('{"what": "echo", "surplus": 1}', "None"),
        ('{"what": "echo", "text": "\\ud83d"}', "\ufffd"),
        ("{'what': 'echo', 'text': 'it\\'s',}", "it's"),
        ('```json\n{"what": "echo", "text": "fenced"}\n```', "fenced"),
        ('{"what": "echo", "text": "one too many"}}', "one too many"),
        ('{"what": "echo", "text": 5, "points": {"x": "1"}}', "5"),
        ('{"what": "echo", "text": true, "points": "[{\'x\': 1}]", "inner": "{\\"x\\": 2}"}', "true"),
    ],
)
async def test_arguments_are_read_tolerantly(world: World, arguments: str, text: str) -> None:
    assert await probe_box().run(ToolCall("c1", "probe", arguments), world.ctx) == ToolResult(text)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", "The arguments of probe do not fit: what: Field required. Given: nothing."),
        ("  ", "The arguments of probe do not fit: what: Field required. Given: nothing."),
        ("null", "The arguments of probe do not fit: what: Field required. Given: nothing."),
        ("[1]", "The arguments of probe must be one JSON object."),
        (
            '{"what": "echo"',
            'The arguments of probe are not valid JSON: it ends too early at the end, near \'{"what": "echo"\'. '
            "The call was not run.",
        ),
        (
            '{"what": "echo", "points": [{"x": "one"}], "text": {}}',
            "The arguments of probe do not fit: text: Input should be a valid string; "
            "points.0.x: Input should be a valid integer, unable to parse string as an integer. "
            "Given: what, points, text.",
        ),
    ],
)
async def test_arguments_that_do_not_fit_name_field_and_fault(world: World, arguments: str, text: str) -> None:
    gate = Gate()
    result = await probe_box(gate).run(ToolCall("c1", "probe", arguments), world.ctx)
    assert result == ToolResult(text, failed=True, summary="bad arguments")
    assert gate.actions == []
    assert probe_box().title(ToolCall("c1", "probe", arguments)) == "probe"


@given(st.text(), st.text())
def test_nothing_the_model_writes_breaks_the_toolbox(name: str, arguments: str) -> None:
    box = Toolbox(builtin_tools(), Gate())
    box.title(ToolCall("c", name, arguments))
    for tool in box.names:
        assert "\n" not in box.title(ToolCall("c", tool, arguments))
        box.parallel(ToolCall("c", tool, arguments))


@pytest.mark.parametrize(
    ("what", "text", "summary"),
    [
        ("bug", "probe broke: KeyError: 'missing'", "broke"),
        ("store", "The file x is damaged.", "failed"),
        ("disk", "No space left on device: /x/y", "failed"),
    ],
)
async def test_what_goes_wrong_inside_is_a_failed_result(world: World, what: str, text: str, summary: str) -> None:
    result = await probe_box().run(ToolCall("c1", "probe", json.dumps({"what": what})), world.ctx)
    assert result == ToolResult(text, failed=True, summary=summary)


async def test_a_cancellation_passes_through(world: World) -> None:
    task = asyncio.create_task(probe_box().run(ToolCall("c1", "probe", '{"what": "hang"}'), world.ctx))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_result_is_larger_than_the_bound(world: World) -> None:
    result = await probe_box().run(ToolCall("c9", "probe", '{"what": "long"}'), world.ctx)
    assert len(result.text.encode()) < 37_000
    assert (result.partial, result.archive) == (True, "c9.txt")
    assert (world.ctx.archive.folder / "c9.txt").read_text() == "字" * 50_000


async def test_a_refusal_carries_its_reason(world: World) -> None:
    result = await probe_box(Gate(refuse="probe")).run(ToolCall("c1", "probe", '{"what": "echo"}'), world.ctx)
    assert result == ToolResult("Not here.", failed=True, denied=True, summary="denied")


async def test_an_unknown_tool_names_the_nearest(world: World) -> None:
    assert await world.toolbox.run(ToolCall("c1", "readfile", "{}"), world.ctx) == ToolResult(
        "There is no tool 'readfile'. Did you mean read_file or edit_file or write_file?",
        failed=True,
        summary="no such tool",
    )
    assert (await probe_box().run(ToolCall("c1", "zzz"), world.ctx)).text == (
        "There is no tool 'zzz'. There are: probe."
    )


def test_only_reading_runs_in_parallel() -> None:
    box = Toolbox(builtin_tools(), Gate())
    reading = {"read_file", "glob", "grep", "search_code", "recall", "web_fetch", "web_search", "task"}
    assert {name for name in box.names if box.parallel(ToolCall("c", name))} == reading
    assert box.parallel(ToolCall("c", "unknown"))


def test_titles_are_one_harmless_line() -> None:
    assert probe_box().title(ToolCall("c", "probe", '{"what": "echo"}')).startswith("Probe echo")
    assert "\x1b" not in probe_box().title(ToolCall("c", "probe", '{"what": "echo"}'))
