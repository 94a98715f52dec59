"""The list of steps of a session. It lives in the calls of the todo tool, and is read from them again at a resume."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from codeagent.core.entries import Entry
from codeagent.core.sections import Section
from codeagent.core.todo import Todo, TodoState

ORDER = 460
"""Among the sections of the prompt: what changes with the work stands last."""
_BOX: dict[TodoState, str] = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}


class TodoList:
    """Implements `core.todo.Todos` and `core.ports.Observer`.

    `stored` reads the list as the session's past has it; it is asked at the start and when some of that past is void.
    """

    def __init__(self, stored: Callable[[], Sequence[Todo]] = tuple) -> None:
        self._stored = stored
        self._items = tuple(stored())

    @property
    def items(self) -> Sequence[Todo]:
        return self._items

    def replace(self, items: Sequence[Todo]) -> None:
        self._items = tuple(items)

    def appended(self, entry: Entry) -> None:
        """Nothing follows from it: the tool itself tells of a new list."""

    def cleared(self) -> None:
        self._items = ()

    def taken_back(self, ids: Collection[str]) -> None:
        self._items = tuple(self._stored())


def todo_section(items: Sequence[Todo]) -> Section | None:
    """The list for a prompt that is built anew: the calls that made it may have left the context."""
    if all(item.state == "done" for item in items):
        return None
    told = "As it stands here; a later call of todo replaces it. Go on with it and keep it up to date."
    lines = (f"{_BOX[item.state]} {item.content}" for item in items)
    return Section("todo", "\n".join([told, *lines]), "Todo list", order=ORDER)
