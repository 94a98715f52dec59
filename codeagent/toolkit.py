"""What tools are handed that is not the session's own, and which of them are offered (L5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codeagent.core.todo import Todo
from codeagent.core.tools import Tool
from codeagent.core.web import Web
from codeagent.history.history import History
from codeagent.history.latest import last_call
from codeagent.settings.schema import WebSettings
from codeagent.tools.builtin import todo
from codeagent.tools.todos import TodoList
from codeagent.tools.web.client import WebClient
from codeagent.tools.web.engine import find_engine


def make_web(settings: WebSettings, environ: Mapping[str, str]) -> WebClient:
    return WebClient(environ, private=settings.private, engine=find_engine(environ, settings.search))


def offered(tools: Iterable[Tool], web: Web) -> list[Tool]:
    """Without those that lack what they need."""
    return [tool for tool in tools if tool.name != "web_search" or web.engine]


def make_todos(history: History) -> TodoList:
    """The list as it stood at the end of the session so far."""

    def stored() -> tuple[Todo, ...]:
        arguments = last_call(history.path, todo.TOOL.name)
        return (arguments and todo.read_items(arguments)) or ()

    return TodoList(stored)
