"""Tool calls from their fragments, however an endpoint numbers, names and cuts them.

Empty equals absent; an id or name once known is never overwritten. A new id, or a name behind complete arguments,
begins a new call also where the index stays the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from uuid import uuid4

from codeagent.core.events import CallDelta
from codeagent.core.messages import ToolCall
from codeagent.llm.pieces import mend

_DECODER = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class _Open:
    """A call that is still being written."""

    index: int | None
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    size: int = 0

    def takes(self, id: str, name: str, arguments: str) -> bool:
        """Whether a fragment with this id and name belongs here rather than to a new call."""
        if not name:
            return True
        if (id and self.id and id != self.id) or name != (self.name or name):
            return False
        # Some endpoints repeat the name in every fragment: only complete arguments tell a repetition from a new call.
        return bool(id and self.id) or not (arguments and self.complete())

    def complete(self) -> bool:
        return bool(self.parts) and self.parts[-1].rstrip().endswith("}") and _is_object("".join(self.parts))


class CallAssembler:
    """Collects the fragments of `delta.tool_calls`."""

    def __init__(self) -> None:
        self._open: list[_Open] = []

    def add(self, fragment: object) -> CallDelta | None:
        """Take one fragment; anything that is none is passed over."""
        if not isinstance(fragment, Mapping):
            return None
        function = fragment.get("function")
        function = function if isinstance(function, Mapping) else {}
        index = fragment.get("index")
        id, name, arguments = _text(fragment.get("id")), _text(function.get("name")), _arguments(function)
        place = self._place(index if isinstance(index, int) else None, id, name, arguments)
        call = self._open[place]
        call.id, call.name = call.id or id, call.name or name
        if arguments:
            call.parts.append(arguments)
            call.size += len(arguments)
        return CallDelta(place, call.name, call.size) if call.name else None

    def _place(self, index: int | None, id: str, name: str, arguments: str) -> int:
        """Where the fragment belongs: the call of its id, else the newest of its index (of all where it has none)."""
        near = [
            place for place, call in enumerate(self._open) if index is None or call.index is None or call.index == index
        ]
        for place in near:
            if id and self._open[place].id == id:
                return place
        if near and self._open[near[-1]].takes(id, name, arguments):
            return near[-1]
        self._open.append(_Open(index))
        return len(self._open) - 1

    def finish(self) -> Iterator[tuple[ToolCall, bool]]:
        """The calls in order, each with whether its arguments are whole. Nameless ones are none."""
        taken: set[str] = set()
        for call in self._open:
            if not call.name:
                continue
            for number, arguments in enumerate(_whole(call.parts)):
                id = call.id if call.id and number == 0 and call.id not in taken else f"call_{uuid4().hex[:24]}"
                taken.add(id)
                yield ToolCall(id, call.name, arguments), _is_object(arguments)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _arguments(function: Mapping[str, Any]) -> str:
    value = function.get("arguments")
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return _text(value)


def _is_object(text: str) -> bool:
    return len(objects := _objects(text)) == 1 and isinstance(objects[0], dict)


def _objects(text: str) -> list[Any]:
    """The JSON values that `text` is a row of; [] when it is anything else."""
    found, at = [], 0
    while text := text[at:].strip():
        try:
            value, at = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return []
        found.append(value)
    return found


def _whole(parts: list[str]) -> list[str]:
    """Arguments from their parts: joined; or the last, where each repeats the one before; or one per object."""
    joined = mend("".join(parts)).strip()
    if not joined:
        return ["{}"]
    objects = _objects(joined)
    if len(objects) > 1 and all(isinstance(one, dict) for one in objects):
        distinct = [one for place, one in enumerate(objects) if one and one not in objects[:place]]
        return [json.dumps(one, ensure_ascii=False) for one in distinct] or ["{}"]
    cumulative = all(later.startswith(earlier) for earlier, later in pairwise(parts))
    if not objects and len(parts) > 1 and cumulative and _is_object(parts[-1]):
        return [mend(parts[-1]).strip()]
    if len(objects) == 1 and isinstance(objects[0], dict) and not _is_strict(joined):
        # Raw line breaks inside strings: it can be run, but many servers refuse it when it is sent back.
        return [json.dumps(objects[0], ensure_ascii=False)]
    return ["{}"] if objects == [None] else [joined]


def _is_strict(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
