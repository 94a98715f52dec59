"""The arguments of a call: from what the model wrote to what the tool declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from codeagent.core import loose_json
from codeagent.core.loose_json import LooseError
from codeagent.core.messages import ToolCall, scrub
from codeagent.core.tools import Tool
from codeagent.tools.base import ToolFault

_LISTS = ("list_type", "tuple_type", "set_type")
_OBJECTS = ("model_type", "model_attributes_type", "dict_type")


def validated(tool: Tool, call: ToolCall) -> Any:
    """The arguments of `call` as `tool` wants them; null counts as left out.

    Raises:
        ToolFault: they are no JSON object, or they do not fit.
    """
    given = {
        name: _harmless(name, value, tool) if isinstance(value, str) else value
        for name, value in _object(call).items()
        if value is not None
    }
    try:
        return tool.params.model_validate(given)
    except ValidationError as error:
        try:
            return tool.params.model_validate(_coerced(given, error))
        except ValidationError as remaining:
            faults = "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}"
                for fault in remaining.errors(include_url=False, include_context=False)[:5]
            )
        got = ", ".join(given) or "nothing"
        raise ToolFault(f"The arguments of {tool.name} do not fit: {faults}. Given: {got}.", "bad arguments") from None


def _harmless(name: str, value: str, tool: Tool) -> str:
    """`value` without half characters, which nothing can hold; in what is to stand in a file they are a fault."""
    scrubbed = scrub(value)
    if tool.kind == "edit" and scrubbed != value:
        half = next(one for one, other in zip(value, scrubbed, strict=True) if one != other)
        raise ToolFault(
            f"{name} holds \\u{ord(half):04x}, half a character that no file can hold. Write the character itself.",
            "half a character",
        )
    return scrubbed


def _object(call: ToolCall) -> dict[str, Any]:
    """The object that the arguments mean; empty means none."""
    try:
        value = loose_json.read(call.arguments) if call.arguments.strip() else {}
    except LooseError as error:
        message = f"The arguments of {call.name} are not valid JSON: {error} {error.spot}. The call was not run."
        raise ToolFault(message, "bad arguments") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ToolFault(f"The arguments of {call.name} must be one JSON object.", "bad arguments")
    return value


def _coerced(given: Mapping[str, Any], error: ValidationError) -> Any:
    """`given` with each value that does not fit in the form that was asked for, where it has one."""
    whole: Any = given
    for fault in error.errors(include_url=False, include_context=False):
        whole = _with(whole, fault["loc"], fault["type"])
    return whole


def _with(holder: Any, path: Sequence[int | str], fault: str) -> Any:
    """`holder` with the value at `path` coerced; where the path leads nowhere, as it is."""
    if not path:
        return _as_asked(holder, fault)
    first, rest = path[0], path[1:]
    if isinstance(holder, Mapping) and first in holder:
        return {**holder, str(first): _with(holder[str(first)], rest, fault)}
    if isinstance(holder, list) and isinstance(first, int) and first < len(holder):
        return [*holder[:first], _with(holder[first], rest, fault), *holder[first + 1 :]]
    return holder


def _as_asked(value: Any, fault: str) -> Any:
    if fault == "string_type" and isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, str) and fault in (*_LISTS, *_OBJECTS):
        with suppress(LooseError):
            value = loose_json.read(value)
    return [value] if fault in _LISTS and not isinstance(value, list) else value
