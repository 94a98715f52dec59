"""todo: the steps of the work, before the eyes of the person."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from codeagent.core.todo import Todo, TodoState, current, finished
from codeagent.core.tools import Tool, ToolContext, ToolResult
from codeagent.tools.base import ToolFault
from codeagent.tools.paths import begun

_WORDS = {"completed": "done", "complete": "done", "doing": "in_progress", "todo": "pending", "open": "pending"}
"""What models that learnt another form of this tool call the states."""


class Item(BaseModel):
    content: str = Field(max_length=500)
    state: TodoState = "pending"

    @model_validator(mode="before")
    @classmethod
    def _tolerant(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"content": given}
        if not isinstance(given, dict):
            return given
        state = given.get("state", given.get("status", "pending"))
        return {**given, "state": _WORDS.get(state, state) if isinstance(state, str) else state}


class Params(BaseModel):
    items: list[Item] = Field(max_length=60)


async def run(params: Params, ctx: ToolContext) -> ToolResult:
    """Show the user the steps of work that has three or more: each time the whole list, in order. One step is
    in_progress; mark it done as soon as it is, before the next.
    """
    items = _todos(params)
    if any(not item.content for item in items):
        raise ToolFault("An item has no content.", "empty")
    ctx.todos.replace(items)
    if not items:
        return ToolResult("The list is empty.", summary="cleared")
    going = current(items)
    return ToolResult(f"{_progress(items)}.{f' Now: {going.content}' if going else ' All is done.'}")


def read_items(arguments: str) -> tuple[Todo, ...] | None:
    """The list in the arguments of a call; None when they do not fit."""
    try:
        return _todos(Params.model_validate(json.loads(arguments, strict=False)))
    except (ValidationError, ValueError, RecursionError):
        return None


def _todos(params: Params) -> tuple[Todo, ...]:
    return tuple(Todo(" ".join(item.content.split()), item.state) for item in params.items)


def _progress(items: tuple[Todo, ...]) -> str:
    return f"{finished(items)} of {len(items)} done"


def title(params: Params) -> str:
    items = _todos(params)
    if not items:
        return "Clear the todo list"
    going = current(items)
    return f"Todo: {_progress(items)}{f' · {begun(going.content)}' if going else ''}"


TOOL = Tool("todo", "memory", Params, run, title, order=85)
